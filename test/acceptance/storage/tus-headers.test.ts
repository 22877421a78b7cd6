import { expect, it } from 'vitest'
import { target } from '../setup/target.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, ownFolder, read, store } from '../support/storage.ts'
import { append, asBytes, cancel, createUploader, head, inTus, metadata } from '../support/tus.ts'

const own = ownFolder()
const { create, begin } = createUploader(own)
const uploads = '/api/v2/admin/sites/current/uploads'

it.each([
  ...['-1', 'x', '1.5', '', '0x1', '1e3', '0, 0'].map((value) => ['Upload-Offset', value, 400, 104000] as const),
  ...['application/octet-stream', 'text/plain', ''].map((value) => ['Content-Type', value, 415, 100015] as const),
  ...['crc32 AAAAAA==', 'SHA1 qvTGHdzF6KLavt4PO0gs2a6pQ00=', 'sha1', 'sha1 no base64', 'sha1 ', 'x'].map(
    (value) => ['Upload-Checksum', value, 400, 104033] as const,
  ),
  ['Upload-Checksum', 'md5 XUFAKrxLKna5cZ2REBfFkg====', 400, 104033],
  ['Content-Encoding', 'gzip', 400, 104000],
] as const)(
  'An append with %s %j answers %i/%i, nothing is stored (U-2, U-5, S-133)',
  async (name, value, status, code) => {
    const upload = await begin('refused.bin', 5)
    expectError(await append(upload, 0, 'hello', { [name]: value }), status, code)
    expect((await head(upload)).headers['upload-offset']).toBe('0')
  },
)

it('An append without Upload-Offset answers 400/104000 (E-28)', async () => {
  const upload = await begin('offset.bin', 5)
  expectError(await call(upload, { method: 'PATCH', headers: asBytes, body: 'hello' }), 400, 104000)
})

it.each<[string, Readonly<Record<string, string>>, number]>([
  ['Upload-Length -1', { 'Upload-Length': '-1' }, 104000],
  ['two lengths', { 'Upload-Length': '5, 5' }, 104000],
  ['a length and an announced later length', { 'Upload-Defer-Length': '1' }, 104000],
  ['a tab after a key', { 'Upload-Metadata': 'filename\tYQ==' }, 104000],
  ['a blank in a key', { 'Upload-Metadata': 'file name YQ==' }, 104000],
  ['an empty key', { 'Upload-Metadata': 'filename YQ==,' }, 104000],
  ['a value that is not base64', { 'Upload-Metadata': 'filename a.txt' }, 104000],
  ['a key twice', { 'Upload-Metadata': 'filename YQ==,filename Yg==' }, 104000],
  ['8 KB of metadata', { 'Upload-Metadata': metadata({ filename: 'a', note: 'x'.repeat(6_000) }) }, 104000],
  ['another version', { 'Upload-Metadata': metadata({ filename: 'a', version: 'final' }) }, 104000],
  ['a malformed condition', { 'If-Match': 'x' }, 104000],
  ['a part of a file', { 'Upload-Concat': 'partial' }, 104000],
  ['no name', { 'Upload-Metadata': 'filetype eA==' }, 104014],
  ['an empty name', { 'Upload-Metadata': 'filename' }, 104014],
  ['the name ..', { 'Upload-Metadata': metadata({ filename: '..' }) }, 104015],
  ['a name that is not UTF-8', { 'Upload-Metadata': 'filename /w==' }, 104015],
  ['a name over 255 bytes', { 'Upload-Metadata': metadata({ filename: 'x'.repeat(256) }) }, 104028],
])('A new upload with %s is refused (U-2, U-5, E-28, E-41, E-42, E-49)', async (_, headers, code) => {
  expectError(await create('a', 5, headers), 400, code)
})

it('A new upload must state its length, or that the length follows later (U-2)', async () => {
  const headers = { ...inTus, 'Upload-Metadata': metadata({ filename: 'a' }) }
  expectError(await call(at(own), { method: 'POST', headers }), 400, 104000)
  for (const value of ['0', '2', 'true', '']) {
    expectError(await create('a', undefined, { 'Upload-Defer-Length': value }), 400, 104000)
  }
})

it.each([
  ['of a wrong type', { 'Content-Type': 'text/plain' }, 415, 100015],
  ['in gzip (S-133)', { ...asBytes, 'Content-Encoding': 'gzip' }, 400, 104000],
])('A new upload with bytes %s is refused', async (_, headers, status, code) => {
  expectError(await create('first.txt', 5, headers, { body: 'hello' }), status, code)
  expectError(await read(`${own}/first.txt`), 404, 104001)
})

it('A request without Tus-Resumable is not a tus request (U-4)', async () => {
  const headers = { 'Content-Type': asBytes['Content-Type'], 'Upload-Length': '5' }
  const answer = await call(at(own), { method: 'POST', headers, body: 'hello' })
  expectError(answer, 400, 104000)
  expect(answer.headers).not.toHaveProperty('tus-resumable')
})

it.each(['0.2.2', '1.0.1', '2.0.0', 'x', '1.0.0, 1.0.0'])('The tus version %j answers 412 (U-7)', async (version) => {
  const upload = await begin('version.txt', 5)
  const headers = { 'Tus-Resumable': version }
  const created = await create('version.bin', 0, headers)
  expectError(created, 412, 100412)
  const answers = [
    created,
    await head(upload, { headers }),
    await append(upload, 0, 'hello', headers),
    await cancel(upload, { headers }),
  ]
  expect(answers.map((answer) => answer.status)).toEqual([412, 412, 412, 412])
  expect(answers.map((answer) => answer.headers['tus-version'])).toEqual(answers.map(() => '1.0.0'))
  expect((await head(upload)).headers['upload-offset']).toBe('0')
  expectError(await read(`${own}/version.bin`), 404, 104001)
})

it('OPTIONS returns the tus headers without a token (U-5, U-8)', async () => {
  for (const path of [at(own), `${at(own)}/x`, `${uploads}/x`]) {
    const headers = { 'Tus-Resumable': '0.1' }
    const answer = await call(path, { method: 'OPTIONS', token: null, headers })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({
      'tus-version': '1.0.0',
      'tus-checksum-algorithm': 'sha256,sha1,md5',
      'tus-extension': 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
      'access-control-allow-methods': expect.stringContaining('PATCH'),
    })
    expect(Number(answer.headers['tus-max-size'])).toBeGreaterThan(0)
  }
})

it('Every answer has Tus-Resumable, also a refusal (U-6)', async () => {
  const upload = await begin('every.txt', 5)
  const unknown = `${uploads}/${'0'.repeat(32)}`
  const answers = [
    await create('every.bin', 3),
    await create('every.bin', -1),
    await head(upload),
    await append(upload, 3, 'x'),
    await append(upload, 0, 'hello'),
    await cancel(upload),
    await head(unknown),
    await head(unknown, { token: null }),
    await call(unknown, { method: 'PUT', headers: inTus }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([201, 400, 200, 409, 204, 204, 404, 401, 405])
  expect(answers.map(({ headers }) => headers['tus-resumable'])).toEqual(answers.map(() => '1.0.0'))
})

it('HEAD returns the metadata as sent, and is not cached (U-3)', async () => {
  const value = `${metadata({ filename: 'Grüße.txt', filetype: 'text/plain' })},is_confidential`
  const { headers } = await head(await begin('a', 5, { 'Upload-Metadata': value }))
  expect(headers).toMatchObject({ 'upload-metadata': value, 'cache-control': 'no-store' })
})

it('Answers contain the expiry of an upload until the upload is complete (U-25)', async () => {
  const created = await create('expires.txt', 4)
  const upload = new URL(created.headers['location'] ?? '').pathname.replace(/^.*(?=\/api\/v2\/)/, '')
  const answers = [created, await append(upload, 0, 'x')]
  for (const { headers } of answers) {
    expect(headers['upload-expires']).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/)
    const left = Date.parse(headers['upload-expires'] ?? '') - Date.now()
    expect(left).toBeGreaterThan(23 * 3600 * 1000)
    expect(left).toBeLessThanOrEqual(24 * 3600 * 1000)
  }
  expect((await append(upload, 1, 'xxx')).headers).not.toHaveProperty('upload-expires')
})

it('X-HTTP-Method-Override is accepted only for uploads (U-9)', async () => {
  const upload = await begin('override.txt', 5)
  // The OpenAPI document describes no POST at this path.
  const send = (path: string, override: string, headers: Readonly<Record<string, string>> = {}, method = 'POST') =>
    fetch(target.baseUrl + path, {
      method,
      headers: { ...asBytes, Authorization: target.token, 'X-HTTP-Method-Override': override, ...headers },
      ...(method === 'POST' && { body: 'hello' }),
    })
  expect((await send(upload, 'PATCH', { 'Upload-Offset': '0' })).status).toBe(204)
  expect((await send(upload, 'HEAD', {}, 'GET')).headers.get('upload-offset')).toBe('5')
  expect((await send(upload, 'PATCH, PATCH')).status).toBe(405)
  expect((await send(upload, 'DELETE')).status).toBe(204)
  expect((await head(upload)).status).toBe(404)
  await store(`${own}/form/kept.txt`, 'kept')
  for (const path of [at(`${own}/form/kept.txt`), at(`${own}/form`)]) await send(path, 'DELETE')
  expect((await read(`${own}/form/kept.txt`)).text).toBe('kept')
  expect((await create('put.bin', 5, { 'X-HTTP-Method-Override': 'PUT' })).status).toBe(201)
})
