import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, namesIn, ownFolder, put, read, store, upload } from '../support/storage.ts'

const own = ownFolder()

interface Operation {
  readonly parameters: readonly { readonly in: string; readonly name: string }[]
}

it('PUT stores its body as the file (S-47)', async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
  expect(await put(`${own}/raw/a.bin`, bytes)).toMatchObject({ status: 200, json: { status: 'success' } })
  const asBytes = { headers: { Accept: 'application/octet-stream' } }
  expect((await call(at(`${own}/raw/a.bin`), asBytes)).headers['content-length']).toBe('256')
})

it('PUT accepts a multipart body, like POST (S-47)', async () => {
  await upload(`${own}/raw/form`, [{ name: 'a', content: 'in a form' }], { method: 'PUT' })
  expect((await read(`${own}/raw/form/a`)).text).toBe('in a form')
})

it('PUT refuses a draft in a multipart body, and an unknown version (S-48)', async () => {
  const page = `${own}/raw/page.html`
  await store(page, 'live')
  const form = multipart([{ name: 'page.html', content: 'draft' }])
  expectError(await put(page, form, '?version=draft', { headers: formHeaders }), 400, 104000)
  expectError(await put(page, 'x', '?version=other'), 400, 104000)
  expect((await read(page)).text).toBe('live')
})

it('PUT with ?type=folder creates a folder, but not in place of a file (S-49)', async () => {
  for (const _ of [1, 2]) expect((await put(`${own}/raw/empty/folder`, '', '?type=folder')).status).toBe(200)
  expect(await namesIn(`${own}/raw/empty`)).toEqual(['folder/'])
  await store(`${own}/raw/file`, 'x')
  expectError(await put(`${own}/raw/file`, '', '?type=folder'), 400, 104022)
})

it.each<[string, string, Readonly<Record<string, string>>?]>([
  ['?type=Folder (S-49)', '?type=Folder'],
  ['a part of a file (S-132)', '', { 'Content-Range': 'bytes 7-12/13' }],
  ['bytes in gzip (S-133)', '', { 'Content-Encoding': 'gzip' }],
  ['bytes in Brotli (S-133)', '', { 'Content-Encoding': 'BR' }],
  ['bytes in two codings (S-133)', '', { 'Content-Encoding': 'identity, x-gzip' }],
])('PUT with %s answers 104000, and the file stays', async (_, query, headers = {}) => {
  const path = `${own}/raw/kept.txt`
  expect((await put(path, 'the file', '', { headers: { 'Content-Encoding': 'utf-8' } })).status).toBe(200)
  expectError(await put(path, '{}', query, { headers }), 400, 104000)
  expect((await read(path)).text).toBe('the file')
})

// These only refine another switch, or change nothing.
const refining = ['access_token', 'cursor', 'force', 'limit', 'meta', 'recursive', 'type', 'version']

it.each(['PUT', 'DELETE'])(
  '%s refuses every switch of the other methods, and the file stays (S-137)',
  async (method) => {
    const path = `${own}/raw/unswitched.txt`
    await store(path, 'the file')
    const { json } = await call('/openapi.json', { token: null })
    const operations = Object.entries<Operation>(json.paths['/api/v2/admin/sites/{site}/storage/{path}'])
    const namesOf = ([, { parameters }]: [string, Operation]) =>
      parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
    const itsOwn = operations.filter(([name]) => name === method.toLowerCase()).flatMap(namesOf)
    const others = operations.flatMap(namesOf).filter((name) => ![...itsOwn, ...refining].includes(name))
    expect(others).toContain('restore')
    for (const name of others) expectError(await call(at(path, `?${name}=x`), { method, body: '{}' }), 400, 104000)
    expect((await read(path)).text).toBe('the file')
  },
)

it.each(['POST', 'PUT'])('%s of an encoded form or of a part answers 104000 (S-132, S-133)', async (method) => {
  for (const headers of [{ 'Content-Encoding': 'gzip' }, { 'Content-Range': 'bytes 7-12/13' }])
    expectError(await upload(own, [{ name: 'form' }], { method, headers }), 400, 104000)
})

let count = 0
const fresh = () => `${own}/${count++}/a.txt`
const putIf = (path: string, content: Buffer, headers: Readonly<Record<string, string>>) =>
  put(path, content, '', { headers: { 'Content-Type': 'application/octet-stream', ...headers } })

const content = Buffer.from('the bytes of a file')
const digest = (algorithm: string, bytes = content) => createHash(algorithm).update(bytes).digest('base64')
const other = Buffer.from('other bytes')

it('PUT stores bytes that match their digest (S-50)', async () => {
  const path = fresh()
  for (const header of [`sha-256=:${digest('sha256')}:`, `sha-512=:AAAA:, sha-256=:${digest('sha256')}:`]) {
    expect((await putIf(path, content, { 'Content-Digest': header })).status).toBe(200)
  }
  expect((await putIf(path, content, { 'Content-Digest': 'sha-512=:AAAA:' })).status).toBe(200)
  expect((await putIf(path, content, { 'Content-MD5': digest('md5') })).status).toBe(200)
  expect((await read(path)).text).toBe(String(content))
})

it.for([
  ['Content-Digest', `sha-256=:${digest('sha256', other)}:`],
  ['Content-MD5', digest('md5', other)],
] as const)('PUT with %s: %s answers 104033 and changes nothing (S-50, E-53)', async ([name, value], { skip }) => {
  const path = fresh()
  await store(path, 'old')
  const answer = await putIf(path, content, { [name]: value })
  const isHeaderRemoved =
    name === 'Content-MD5' && answer.status === 200 && answer.headers['x-amz-apigw-id'] !== undefined
  if (isHeaderRemoved) skip('NOT PROVEN: the gateway removes this header from requests')
  expectError(answer, 400, 104033)
  expect((await read(path)).text).toBe('old')
  expectError(await putIf(`${path}-new`, content, { [name]: value }), 400, 104033)
  expectError(await read(`${path}-new`), 404, 104001)
})
