import { Readable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { openStorage } from '../storage/service.ts'
import { uploadIn } from './service.ts'

// Clocks, races and locks of resumable uploads (U-1), which the acceptance cases cannot control.
let now = Date.UTC(2026, 0, 31, 12)
const hour = 3_600_000
const clock = { wall: () => now, monotonic: () => performance.now() }
const service = await openStorage({ clock, closes: afterAll })

test('Bytes are dropped if the connection breaks before their checksum arrives (U-22)', async () => {
  const upload = uploadIn(await service.create('checked.txt', 5))
  const broken = Readable.from(inPieces(Buffer.from('hel'), 3, new Error('The caller has gone')))
  const headers = { 'Upload-Checksum': 'sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=' }
  await service.patch(upload, 0, broken, { headers })
  expect((await service.head(upload)).headers['upload-offset']).toBe('0')
})

test('An upload expires 24 hours after its last append (U-25)', async () => {
  const upload = uploadIn(await service.create('late.txt', 5))
  now += 24 * hour - 1
  expect((await service.patch(upload, 0, 'he')).status).toBe(204)
  now += 24 * hour - 1
  expect((await service.head(upload)).headers['upload-expires']).toBe(new Date(now + 1).toUTCString())
  const before = service.leftovers()
  now += 1
  expect(statusAndCode(await service.patch(upload, 2, 'llo'))).toEqual([404, 104032])
  expect(service.leftovers()).toBe(before - 1)
})

test.each([
  ['a declared length', '0'],
  ['an unknown length', null],
])('An append without bytes, of %s, delays no expiry (U-18, U-25)', async (_, length) => {
  const upload = uploadIn(await service.create('empty.txt', 5))
  const { headers } = await service.head(upload)
  now += hour
  const sent = { headers: { 'Content-Length': length } }
  expect((await service.patch(upload, 0, Readable.from([]), sent)).status).toBe(204)
  expect((await service.head(upload)).headers['upload-expires']).toBe(headers['upload-expires'])
})

test('An upload expires 6 days after its creation, whatever is appended (U-25)', async () => {
  const begun = now
  const created = await service.create('slow.txt', 100)
  const upload = uploadIn(created)
  for (let day = 0; day < 6; day++) {
    now = begun + (day + 1) * 23.5 * hour
    const { status, headers } = await service.patch(upload, day, 'x')
    expect(status).toBe(204)
    expect(Date.parse(headers['upload-expires'] ?? '')).toBeLessThanOrEqual(begun + 144 * hour)
  }
  now = begun + 144 * hour
  expect((await service.head(upload)).status).toBe(404)
})

describe('A resumable upload into a folder that is being removed', () => {
  const startRemoval = (folder: string) =>
    service.stores.removals.open(service.site, toStoragePath(folder), folder, entry)

  test('A new upload is refused with 104010 (S-46, U-11)', async () => {
    await startRemoval('going')
    expect(statusAndCode(await service.create('a', 5, { folder: '/going/below' }))).toEqual([400, 104010])
  })

  test('Completing an upload is refused with 104010, and its bytes are removed (U-28)', async () => {
    const upload = uploadIn(await service.create('a.txt', 5, { folder: '/vanishing' }))
    await service.patch(upload, 0, 'he')
    await startRemoval('vanishing')
    const before = service.leftovers()
    expect(statusAndCode(await service.patch(upload, 2, 'llo'))).toEqual([400, 104010])
    expect(service.leftovers()).toBe(before - 1)
    expect(statusAndCode(await service.patch(upload, 2, 'llo'))).toEqual([404, 104032])
  })
})

test('A complete upload is known for a day, in case its last answer was lost (U-27)', async () => {
  const upload = uploadIn(await service.create('lost.txt', 5))
  await service.patch(upload, 0, 'hello')
  now += 24 * hour - 1
  expect((await service.head(upload)).headers).toMatchObject({ 'upload-offset': '5', 'upload-length': '5' })
  now += 1
  expect((await service.head(upload)).status).toBe(404)
  expect(await service.read('/lost.txt')).toBe('hello')
})
