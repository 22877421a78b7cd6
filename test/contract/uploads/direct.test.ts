import { hash } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { type Holding, holdingOf, type Upload, type UploadRecords } from '../../../lib/storage/uploads/upload.ts'
import { statusAndCode } from '../../support/answer.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { bytesIn } from '../../support/objects.ts'
import { Refusal, type S3Request } from '../../support/s3-messages.ts'
import { openStorageOnAws } from '../storage/hands.ts'
import { interruptChanges } from '../storage/interruption.ts'
import type { StorageUnderTest } from '../storage/service.ts'
import { failCompletions, uploadIn } from './service.ts'

const part = 8 * 1024 * 1024
const bytes = Buffer.alloc(2 * part + 5, 'x')
bytes.write('second', part)
const partsOf = (content: Buffer) => [0, 1, 2].map((index) => content.subarray(index * part, (index + 1) * part))
const digestsOf = (content: Buffer) => partsOf(content).map((one) => hash('sha256', one, 'hex'))

interface State {
  readonly stored: readonly number[]
  readonly addresses: readonly {
    readonly number: number
    readonly url: string
    readonly headers: Record<string, string>
  }[]
}

const unavailable = new ServiceError('unavailable')
let bucket: ReturnType<typeof openBucketInMemory>
let service: StorageUnderTest

beforeEach(async () => {
  bucket = openBucketInMemory()
  service = await openStorageOnAws({ bucket })
})

const ask = (method: string, path: string, query: Readonly<Record<string, string>> = {}, more = {}) =>
  service.callSite(method, path, { query, ...more })

const begin = (body: object, folder = '', conditions: Readonly<Record<string, string>> = {}) => {
  const headers = { 'Content-Type': 'application/json', ...conditions }
  return ask('POST', `/storage${folder}`, { parts: '' }, { headers, body: JSON.stringify(body) })
}
const beginFilm = async () => uploadIn(await begin({ name: 'film.mp4', size: bytes.length }))

const stateOf = async (upload: string, query: Readonly<Record<string, string>> = {}): Promise<State> =>
  JSON.parse((await ask('GET', upload, query)).text)
const addressesOf = async (upload: string, first: number, content: Buffer = bytes) => {
  const digests = digestsOf(content)
    .slice(first - 1)
    .join(',')
  return (await stateOf(upload, { first: String(first), digests })).addresses
}

/** Sends bytes to an address, as callers do. */
const send = async ({ url, headers }: State['addresses'][number], body: Buffer): Promise<number> => {
  const { pathname, searchParams } = new URL(url)
  const request: S3Request = { method: 'PUT', path: pathname, query: Object.fromEntries(searchParams), headers, body }
  const { response } = await bucket.connect().config.requestHandler.handle(request as never)
  return response.statusCode
}
const sendAll = async (upload: string) => {
  const addresses = await addressesOf(upload, 1)
  return Promise.all(addresses.map((address, index) => send(address, partsOf(bytes)[index] ?? bytes)))
}
const fileIn = (path: string) => bytesIn(service.deps.files, `live/${service.site}/${path}`)
const percent = async (): Promise<number> => JSON.parse((await ask('GET', '/storage', { status: '' })).text).percent

test('The parts become the file without copying (U-31, U-32, U-33)', async () => {
  const begun = await begin({ name: 'film.mp4', size: bytes.length, type: 'video/mp4' }, '/films')
  expect(begun.status).toBe(201)
  const upload = uploadIn(begun)
  expect(await sendAll(upload)).toEqual([200, 200, 200])
  const refused = await ask('PATCH', upload, {}, { headers: { 'Content-Length': '5' }, body: 'bytes' })
  expect([...statusAndCode(refused), refused.text]).toEqual([400, 104000, expect.stringContaining('without bytes')])
  expect((await ask('PATCH', upload)).status).toBe(204)
  expect((await fileIn('films/film.mp4'))?.equals(bytes)).toBe(true)
  expect(bucket.s3.requests.filter(({ headers }) => headers['x-amz-copy-source'])).toEqual([])
  const { items } = JSON.parse((await ask('GET', '/changes')).text)
  expect(items.at(-1)).toMatchObject({ type: 'file.stored', subject: 'films', details: { names: ['film.mp4'] } })
  expect((await ask('PATCH', upload)).status).toBe(204)
  expect(await bucket.leftovers()).toBe(0)
})

test('Requests for addresses set the progress, and completion sets 100 (U-34)', async () => {
  const upload = await beginFilm()
  expect(await percent()).toBe(0)
  await addressesOf(upload, 2)
  expect(await percent()).toBe(49)
  await addressesOf(upload, 3)
  expect(await percent()).toBe(99)
  await sendAll(upload)
  await ask('PATCH', upload)
  expect(await percent()).toBe(100)
})

test('One request returns the addresses of 64 parts, also the creation (U-31, U-32)', async () => {
  Object.assign(service.deps, { largestResumableFile: 64 * part })
  const digests = Array(64).fill('0'.repeat(64))
  const begun = await begin({ name: 'film.mp4', size: 64 * part, digests })
  const numbers = Array.from({ length: 64 }, (_, index) => index + 1)
  for (const { addresses } of [JSON.parse(begun.text), await stateOf(uploadIn(begun), { digests: digests.join(',') })])
    expect(addresses.map(({ number }: { readonly number: number }) => number)).toEqual(numbers)
})

test.each([
  ['65 digits', '0'.repeat(65)],
  ['another letter', 'g'.repeat(64)],
  ['nothing', ''],
])('The digest of a part needs 64 hexadecimal digits, not %s (U-31)', async (_, digest) => {
  const refused = await begin({ name: 'film.mp4', size: part, digests: [digest] })
  expect([...statusAndCode(refused), refused.text]).toEqual([400, 104000, expect.stringContaining('64 digits')])
})

test('The refusal to complete an upload names the missing part (U-33)', async () => {
  const upload = await beginFilm()
  const whole = Buffer.concat([bytes.subarray(0, 2 * part), Buffer.from('four')])
  const [first, second, third] = await addressesOf(upload, 1, whole)
  if (!first || !second || !third) throw new Error('An address is missing')
  await send(first, bytes.subarray(0, part))
  // One byte is missing.
  expect(await send(third, Buffer.from('four'))).toBe(200)
  expect((await stateOf(upload)).stored).toEqual([1])
  const refused = await ask('PATCH', upload)
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Part 2 is missing')])
  expect(await send(second, bytes.subarray(part, 2 * part))).toBe(200)
  const expected = `Part 3 is missing. Request its address, send its ${bytes.length - 2 * part} bytes`
  expect((await ask('PATCH', upload)).text).toContain(expected)
  await sendAll(upload)
  expect((await ask('PATCH', upload)).status).toBe(204)
  expect((await fileIn('film.mp4'))?.equals(bytes)).toBe(true)
})

test('GET opens an upload again, if a part was replaced by a shorter one (U-29, U-33)', async () => {
  const upload = await beginFilm()
  const shorter = Buffer.concat([bytes.subarray(0, 2 * part), Buffer.from('four')])
  const [late] = await addressesOf(upload, 3, shorter)
  if (!late) throw new Error('The address is missing')
  await sendAll(upload)
  const placing = interruptChanges(service.deps.files)
  placing.always(() => Promise.reject(unavailable))
  expect((await ask('PATCH', upload)).status).toBe(503)
  placing.end()
  expect(await send(late, Buffer.from('four'))).toBe(200)
  const read = await ask('GET', upload)
  expect([read.status, JSON.parse(read.text)]).toEqual([
    200,
    expect.objectContaining({ complete: false, stored: [1, 2] }),
  ])
  await sendAll(upload)
  expect((await ask('PATCH', upload)).status).toBe(204)
})

test.each(['PATCH', 'GET'])('After a temporary failure, %s completes an upload (U-29, U-34)', async (last) => {
  const upload = await beginFilm()
  await sendAll(upload)
  const placing = interruptChanges(service.deps.files)
  const meanwhile: number[] = []
  placing.always(async () => {
    meanwhile.push((await ask('DELETE', upload)).status)
    throw unavailable
  })
  for (const method of ['PATCH', 'GET']) expect((await ask(method, upload)).status).toBe(503)
  expect(meanwhile).toEqual([503, 503])
  placing.end()
  expect((await ask(last, upload)).status).toBeLessThan(300)
  expect((await fileIn('film.mp4'))?.equals(bytes)).toBe(true)
  expect(await percent()).toBe(100)
})

test.each([['GET', 'GET'], ['PATCH', 'PATCH'], ['DELETE']])(
  'After a crash, %s completes the placed upload with one entry (U-29, H-1)',
  async (...methods) => {
    const upload = await beginFilm()
    await sendAll(upload)
    failCompletions(service.deps.uploadRecords, 1)
    expect((await ask('PATCH', upload)).status).toBe(503)
    for (const method of methods) expect((await ask(method, upload)).status).toBeLessThan(300)
    expect((await fileIn('film.mp4'))?.equals(bytes)).toBe(true)
    const { items } = JSON.parse((await ask('GET', '/changes')).text)
    expect(items.map(({ type }: { readonly type: string }) => type)).toEqual(['file.stored'])
  },
)

test('After a crash during a refusal, GET names the stored parts (U-33)', async () => {
  const upload = await beginFilm()
  const [first] = await addressesOf(upload, 1)
  if (first) await send(first, bytes.subarray(0, part))
  const failing = vi.spyOn(service.deps.uploadRecords, 'advance').mockRejectedValue(unavailable)
  expect((await ask('PATCH', upload)).status).toBe(503)
  failing.mockRestore()
  expect(await stateOf(upload)).toMatchObject({ complete: false, stored: [1] })
  await sendAll(upload)
  expect((await ask('PATCH', upload)).status).toBe(204)
})

test.each([
  ['this version', (holding: Holding) => holding],
  ['an earlier version', (holding: Holding) => ({ ...holding, tail: null })],
])('An undone placement keeps the bytes of an upload of %s (U-30)', async (_, asStored) => {
  const { uploadRecords } = service.deps
  const { create } = uploadRecords
  Object.assign(uploadRecords, {
    create: (given: Upload, ...more: [number, number]) =>
      create({ ...given, holding: asStored(holdingOf(given)) }, ...more),
  })
  const upload = await beginFilm()
  await sendAll(upload)
  // The last look for a folder of this name.
  bucket.s3.before = async ({ query }) => {
    if (query?.['list-type']) throw new Refusal(503, 'SlowDown')
  }
  expect((await ask('PATCH', upload)).status).toBeGreaterThanOrEqual(500)
  expect(await fileIn('film.mp4')).toBeUndefined()
  // The earlier version would place an empty file if no tail were recorded.
  expect((await uploadRecords.get(upload.replace('/uploads/', '')))?.holding?.tail).not.toBeNull()
  bucket.s3.before = async () => {}
  expect((await ask('PATCH', upload)).status).toBe(204)
  expect((await fileIn('film.mp4'))?.equals(bytes)).toBe(true)
})

test('An upload goes to the folder that has its name in another case (U-31)', async () => {
  await service.put('/Films/first.txt', 'first')
  const upload = uploadIn(await begin({ name: 'film.mp4', size: bytes.length }, '/films'))
  expect(await bucket.leftovers()).toBe(1)
  await sendAll(upload)
  expect((await ask('PATCH', upload)).status).toBe(204)
  expect((await fileIn('Films/film.mp4'))?.equals(bytes)).toBe(true)
})

test('A refusal by a condition at the end ends the upload (U-28, U-35)', async () => {
  const upload = uploadIn(await begin({ name: 'film.mp4', size: bytes.length }, '', { 'If-None-Match': '*' }))
  await sendAll(upload)
  await service.put('/film.mp4', 'theirs')
  expect(statusAndCode(await ask('PATCH', upload))).toEqual([412, 100412])
  expect(statusAndCode(await ask('PATCH', upload))).toEqual([404, 104032])
  expect((await fileIn('film.mp4'))?.toString()).toBe('theirs')
  expect(await bucket.leftovers()).toBe(0)
})

test('Without the right to write at its path, nobody continues an upload (U-15, U-35)', async () => {
  const upload = await beginFilm()
  await sendAll(upload)
  const reader = await service.as('files:read', 'files:write:/other')
  for (const method of ['GET', 'PATCH', 'DELETE'])
    expect(statusAndCode(await reader.callSite(method, upload)), method).toEqual([400, 104003])
  expect(await fileIn('film.mp4')).toBeUndefined()
})

test('A user with too many open uploads is refused, without a trace (U-17, U-35)', async () => {
  const most: number[] = []
  Object.assign(service.deps.uploadRecords, {
    create: async (...[, given]: Parameters<UploadRecords['create']>) => most.push(given) < 0,
  })
  const { status, text } = await begin({ name: 'film.mp4', size: bytes.length })
  expect([status, text, most]).toEqual([400, expect.stringContaining('1000 open uploads'), [1_000]])
  expect(await bucket.leftovers()).toBe(0)
})

test('Other users and tus requests do not find the upload (U-15, U-33)', async () => {
  const upload = await beginFilm()
  const other = await service.asKey(['files:write'], ['files:write'])
  expect((await other.callSite('GET', upload)).status).toBe(404)
  expect((await service.head(upload)).status).toBe(404)
  const appends = [
    [0, ''],
    [0, 'bytes'],
    [5, 'bytes'],
  ] as const
  for (const [offset, body] of appends) expect((await service.patch(upload, offset, body)).status).toBe(404)
})

test.each([
  ['a file of 8 MiB (U-31)', { name: 'a', size: part }, '', 400, 104000],
  ['another member (U-31)', { name: 'a', size: part + 1, colour: 'red' }, '', 400, 104000],
  ['a size that is not a number (U-31)', { name: 'a', size: '1' }, '', 400, 104000],
  [
    'more digests than parts (U-31)',
    { name: 'a', size: part + 1, digests: Array(3).fill('0'.repeat(64)) },
    '',
    400,
    104000,
  ],
  // The same refusals as in tus.
  ['the path of a template (U-35)', { name: 'page.html', size: part + 1 }, '/Templates', 413, 104005],
  ['a file beyond the limit (U-35)', { name: 'a', size: 33 * 1024 * 1024 }, '', 413, 104005],
  ['a path without a name (U-35)', { name: '', size: part + 1 }, '', 400, 104014],
])('A new upload with %s is refused', async (_, body, folder, status, code) => {
  expect(statusAndCode(await begin(body, folder))).toEqual([status, code])
  expect(await bucket.leftovers()).toBe(0)
})

test.each([
  ['65 digests', { digests: Array(65).fill('0'.repeat(64)).join(',') }],
  ['a digest of another length', { digests: '0'.repeat(63) }],
  ['a part after the last one', { first: '4', digests: '0'.repeat(64) }],
  ['a first part of 0', { first: '0', digests: '0'.repeat(64) }],
])('No address is given for %s (U-32)', async (_, query) => {
  expect((await ask('GET', await beginFilm(), query)).status).toBe(400)
})
