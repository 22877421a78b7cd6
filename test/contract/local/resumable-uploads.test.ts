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
import { uploadsOf } from '../../support/uploads.ts'

const site = 1001 as SiteId
const mebibyte = 1024 * 1024
const day = 24 * 3600 * 1000

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
