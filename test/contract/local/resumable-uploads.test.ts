import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { unlimited } from '../../../lib/core/time.ts'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { type Machine, openMachine } from '../../../lib/machine/machine.ts'
import { root } from '../../../lib/storage/path.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { entry } from '../../support/history.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { uploadsOf } from '../../support/uploads.ts'

const site = 1001 as SiteId
const mebibyte = 1024 * 1024
const day = 24 * 3600 * 1000

const onSite = { id: site, name: 'Test', dataCentre: 'us', renderingEngine: true }
const checksum = { algorithm: 'md5', value: Buffer.alloc(16) } as const
const unset = { fileType: undefined, version: undefined, ifMatch: undefined, ifNoneMatch: undefined }
const request = { folder: root, fileName: 'a.bin', ...unset }

const start = async (path: string, now = Date.now()) => {
  const clock = { wall: () => now, monotonic: () => performance.now() }
  const machine: Machine = await openMachine(path, { role: 'service', clock })
  const { files, workflows, removals, uploadRecords, uploadParts } = machine.stores
  const stores = { files, workflows, removals, uploadRecords, uploadParts }
  const lease = { lasts: 15_000, renewsEvery: 50 }
  const uploads = uploadsOf({ ...stores, largestResumableFile: 100 * mebibyte, clock, lease })
  return { machine, uploads, files }
}

const addition = (offset: number, bytes: Uint8Array) => ({ offset, content: Readable.from([bytes]) })
const text = (bytes: number) => Buffer.alloc(bytes, 'x')
async function* endless() {
  yield text(10)
  for (;;) yield text(mebibyte)
}
const blobsIn = (path: string) => readdirSync(layoutOf(path).blobs)

/** A data directory with an upload of ten bytes that has five of them, and the machine that made it. */
const beginHalf = async () => {
  const path = join(scratchDirectory(), 'data')
  const started = await start(path)
  const { id } = await started.uploads.create({ request, length: 10, metadata: '' })
  await started.uploads.append(id, addition(0, Buffer.from('hello')))
  return { ...started, path, id }
}

test('an upload becomes a file without a copy of its bytes', async () => {
  const path = join(scratchDirectory(), 'data')
  const { machine, uploads, files } = await start(path)
  const { id } = await uploads.create({ request, length: 20 * mebibyte, metadata: '' })
  await uploads.append(id, addition(0, Buffer.alloc(12 * mebibyte, 'a')))
  const [blob = ''] = blobsIn(path)
  const { ino } = statSync(join(layoutOf(path).blobs, blob))
  await uploads.append(id, addition(12 * mebibyte, Buffer.alloc(8 * mebibyte, 'b')))
  expect(blobsIn(path)).toEqual([blob])
  expect(statSync(join(layoutOf(path).blobs, blob)).ino).toBe(ino)
  const info = await files.find(`live/${site}/a.bin`)
  expect(info?.size).toBe(20 * mebibyte)
  // The service computes the fingerprint of a large file after the answer.
  expect(info && (await files.fingerprintOf(info, unlimited))).toMatch(/^[0-9a-f]{32}-3$/)
  await machine.close()
})

test.each([
  ['drops the bytes beyond the quota (S-122)', 400, 5, {}, endless()],
  ['drops the bytes of a length beyond the quota', 400, 5, { length: 21 }, endless()],
  ['drops bytes with a wrong checksum (U-22)', 460, 5, { checksum }, inPieces(text(3), 1)],
  ['drops bytes beyond the length (U-23)', 413, 5, { length: 10 }, inPieces(text(12), 4)],
  ['keeps the bytes of a broken connection', undefined, 8, {}, inPieces(text(3), 1, new Error('The caller has gone'))],
])('an append %s', async (_, status, size, given, content) => {
  const path = join(scratchDirectory(), 'data')
  const { machine, uploads, files } = await start(path)
  await machine.stores.sites.createSite({ ...onSite, quota: 20 }, entry)
  const { id } = await uploads.create({ request, length: null, metadata: '' })
  await uploads.append(id, addition(0, Buffer.from('hello')))
  const failure = await uploads.append(id, { offset: 5, ...given, content }).catch((error: unknown) => error)
  expect(failure).toMatchObject(status ? { status } : { message: 'The caller has gone' })
  expect(blobsIn(path).map((name) => statSync(join(layoutOf(path).blobs, name)).size)).toEqual([size])
  await uploads.append(id, { ...addition(size, text(2)), length: size + 2 })
  expect((await files.find(`live/${site}/a.bin`))?.size).toBe(size + 2)
  await machine.close()
})

test('the next start removes an expired upload with its bytes', async () => {
  const { path, id, machine } = await beginHalf()
  await machine.close()
  const after = await start(path, Date.now() + day)
  expect(blobsIn(path)).toEqual([])
  expect(readdirSync(layoutOf(path).orphans)).toEqual([])
  expect(await after.machine.stores.uploadRecords.get(id)).toBeUndefined()
  await after.machine.close()
})

test('an upload whose blob has become shorter fails, and is not padded', async () => {
  const { path, id, machine, uploads, files } = await beginHalf()
  const [blob = ''] = blobsIn(path)
  truncateSync(join(layoutOf(path).blobs, blob), 3)
  await expect(uploads.append(id, addition(5, Buffer.from('world')))).rejects.toThrow(/ 3 bytes .* 5$/)
  expect(await files.find(`live/${site}/a.bin`)).toBeUndefined()
  await machine.close()
})
