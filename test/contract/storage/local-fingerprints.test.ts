import { hash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createDeadline, unlimited } from '../../../lib/core/time.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { entry } from '../../support/history.ts'
import { type LocalFiles, openLocalFiles } from '../../support/local-files.ts'
import { infoOf, nowhere, putObject } from '../../support/objects.ts'
import { megabyte } from './object-store.suite.ts'

let folder: string

const open = (): LocalFiles => {
  const opened = openLocalFiles(folder)
  let isOpen = true
  const close = () => {
    if (isOpen) opened.close()
    isOpen = false
  }
  onTestFinished(close)
  return { ...opened, close }
}

async function* untilBroken(broken: Promise<never>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x')
  yield await broken
}

beforeEach(() => {
  folder = scratchDirectory()
})

const large = randomBytes(9 * megabyte)
const key = 'live/1/large'

/** Starts an upload. The returned function breaks the upload off. */
const hang = ({ files }: LocalFiles) => {
  const { promise: broken, reject } = Promise.withResolvers<never>()
  const staging = files.stage(Readable.from(untilBroken(broken)), { key: 'live/1/hanging', contentType: 'a/b' })
  return async () => {
    reject(new Error('It broke off'))
    await expect(staging).rejects.toThrow('It broke off')
  }
}

test('The fingerprint is computed in the background, even during an upload (S-84)', async () => {
  const opened = open()
  const breakOff = hang(opened)
  await putObject(opened.files, key, large)
  await expect.poll(async () => (await infoOf(opened.files, key)).fingerprint).toMatch(/-2$/)
  await breakOff()
})

const other = 'live/1/other'
type Step = (files: LocalFiles['files'], from: ObjectInfo) => Promise<unknown>
const restore: Step = (files, { version: id, size }) =>
  files.place([{ kind: 'restore', key, id, size }], nowhere, entry)

test.each<[string, string, Step]>([
  ['moved', other, (files, from) => files.place([{ kind: 'move', from, key: other }], nowhere, entry)],
  ['copied', other, (files, from) => files.place([{ kind: 'copy', from, key: other }], nowhere, entry)],
  ['replaced and restored', key, (files, from) => putObject(files, key).then(() => restore(files, from))],
])('A file that is %s at once gets its fingerprint in the background (S-84)', async (_, end, change) => {
  const opened = open()
  const breakOff = hang(opened)
  await putObject(opened.files, key, large)
  await change(opened.files, await infoOf(opened.files, key))
  await expect.poll(async () => (await infoOf(opened.files, end)).fingerprint).toMatch(/-2$/)
  await breakOff()
})

test('The next start computes missing fingerprints, also of old versions (S-84)', async () => {
  const begin = () => openMachine(folder, { role: 'service', durable: false })
  const first = await begin()
  await first.stores.files.stop()
  await putObject(first.stores.files, key, large)
  const replaced = await infoOf(first.stores.files, key)
  await putObject(first.stores.files, key)
  await first.close()
  const second = await begin()
  onTestFinished(second.close)
  await restore(second.stores.files, replaced)
  await expect.poll(async () => (await infoOf(second.stores.files, key)).fingerprint).toMatch(/-2$/)
})

test('A read computes a fingerprint that the service did not finish (S-84)', async () => {
  const first = open()
  await first.files.stop()
  await putObject(first.files, key, large)
  expect((await infoOf(first.files, key)).fingerprint).toBeNull()
  first.close()
  const second = open()
  const made = await second.files.fingerprintOf(await infoOf(second.files, key), unlimited)
  expect(made).toMatch(/^[0-9a-f]{32}-2$/)
  expect((await infoOf(second.files, key)).fingerprint).toBe(made)
})

test('A request waits for the fingerprint only as long as the request has time', async () => {
  const opened = open()
  await putObject(opened.files, key, large)
  const info = await infoOf(opened.files, key)
  const late = createDeadline(() => 0)
  expect(await opened.files.fingerprintOf(info, late)).toBeNull()
  expect(await opened.files.fingerprintOf(info, unlimited)).toMatch(/-2$/)
})

test('The fingerprint is null if the bytes are missing', async () => {
  const first = open()
  await first.files.stop()
  await putObject(first.files, key, large)
  first.close()
  const second = open()
  const info = await infoOf(second.files, key)
  rmSync(join(folder, 'blobs', info.version))
  expect(await second.files.fingerprintOf(info, unlimited)).toBeNull()
  await second.files.remove([info], { entry })
  expect(await second.files.fingerprintOf(info, unlimited)).toBeNull()
})

test('Computing a fingerprint does not delay the end of the service', async () => {
  const opened = open()
  const breakOff = hang(opened)
  await putObject(opened.files, `${key}-2`, large)
  await putObject(opened.files, key, large)
  const asked = opened.files.fingerprintOf(await infoOf(opened.files, key), unlimited)
  await opened.files.stop()
  expect(await asked).toBeNull()
  for (const one of [key, `${key}-2`]) expect((await infoOf(opened.files, one)).fingerprint).toBeNull()
  await breakOff()
})

test('A read computes the missing fingerprint of a small file', async () => {
  const opened = open()
  for (const size of [0, 5, 20_000]) {
    const key = `live/1/${size}`
    const bytes = randomBytes(size)
    await putObject(opened.files, key, bytes)
    opened.database.connection.exec('UPDATE objects SET fingerprint = NULL')
    expect(await opened.files.fingerprintOf(await infoOf(opened.files, key), unlimited)).toBe(hash('md5', bytes, 'hex'))
  }
})
