import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'
import { at, ownFolder, read } from '../support/storage.ts'
import { append, asBytes, cancel, createUploader, head, inTus, metadata, pathOf } from '../support/tus.ts'

const own = ownFolder()

const { create, begin } = createUploader(own)

it('After the last append, the file exists (U-2, U-3, U-14, U-26)', async () => {
  const created = await create('pieces.txt', 11)
  expect(created).toMatchObject({ status: 201, headers: { 'upload-offset': '0' } })
  expect(created.headers['location']).toMatch(/\/api\/v2\/admin\/sites\/\d+\/uploads\/[^/]+$/)
  const upload = pathOf(created)
  expect((await head(upload)).headers).toMatchObject({ 'upload-offset': '0', 'upload-length': '11' })
  const first = await append(upload, 0, 'hello ')
  expect(first).toMatchObject({ status: 204, headers: { 'upload-offset': '6' } })
  expectError(await read(`${own}/pieces.txt`), 404, 104001)
  const last = await append(upload, 6, 'world')
  expect(last).toMatchObject({ status: 204, headers: { 'upload-offset': '11' } })
  expect((await read(`${own}/pieces.txt`)).text).toBe('hello world')
  expect((await head(upload)).headers).toMatchObject({ 'upload-offset': '11', 'upload-length': '11' })
})

it('A file that was uploaded in several appends has the sent bytes (S-83)', async () => {
  const content = Buffer.from(Array.from({ length: 9 * 1024 * 1024 }, (_, index) => index % 251))
  const upload = await begin('large.bin', content.length)
  const step = 4 * 1024 * 1024
  for (let offset = 0; offset < content.length; offset += step) {
    expect((await append(upload, offset, content.subarray(offset, offset + step))).status).toBe(204)
  }
  const { json } = await read(`${own}/large.bin`, '?meta')
  const md5 = (part: Buffer) => createHash('md5').update(part).digest()
  const parts = [md5(content.subarray(0, 8 * 1024 * 1024)), md5(content.subarray(8 * 1024 * 1024))]
  // The fingerprint depends on whether the store kept the parts, or copied the whole file.
  const fingerprints = [`${md5(Buffer.concat(parts)).toString('hex')}-2`, md5(content).toString('hex')]
  expect(json.size).toBe(content.length)
  expect(fingerprints).toContain(json.fingerprint)
})

it('The first request of an upload may have all bytes, some or none (U-5, U-14)', async () => {
  const body = 'hello world'
  const first = await create('first.txt', body.length, asBytes, { body: 'hello ' })
  expect(first).toMatchObject({ status: 201, headers: { 'upload-offset': '6' } })
  await append(pathOf(first), 6, 'world')
  expect(await create('all.txt', body.length, asBytes, { body })).toMatchObject({
    status: 201,
    headers: { 'upload-offset': '11' },
  })
  expect((await create('none.txt', 0)).status).toBe(201)
  const texts = await Promise.all(['first', 'all', 'none'].map((name) => read(`${own}/${name}.txt`)))
  expect(texts.map(({ status, text }) => [status, text])).toEqual([
    [200, body],
    [200, body],
    [200, ''],
  ])
})

it('The length of an upload can be sent later, but only once (U-5)', async () => {
  const upload = await begin('later.txt', undefined)
  expect((await head(upload)).headers).toMatchObject({ 'upload-defer-length': '1' })
  await append(upload, 0, 'hello')
  expectError(await append(upload, 5, '', { 'Upload-Length': '4' }), 400, 104000)
  expect((await append(upload, 5, '', { 'Upload-Length': '6' })).status).toBe(204)
  expect((await head(upload)).headers).toMatchObject({ 'upload-offset': '5', 'upload-length': '6' })
  expect((await head(upload)).headers).not.toHaveProperty('upload-defer-length')
  for (const length of ['5', '7']) {
    expectError(await append(upload, 5, '!', { 'Upload-Length': length }), 400, 104000)
  }
  expect((await append(upload, 5, '!', { 'Upload-Length': '6' })).status).toBe(204)
  expect((await read(`${own}/later.txt`)).text).toBe('hello!')
})

it('An append at a wrong or repeated offset answers 409/104030 (U-20, U-27, E-50)', async () => {
  const upload = await begin('offset.txt', 5)
  for (const text of ['ello', '']) expectError(await append(upload, 1, text), 409, 104030)
  await append(upload, 0, 'hello')
  expectError(await append(upload, 0, 'hello'), 409, 104030)
  expectError(await append(upload, 9_007_199_254_740_992, 'x'), 409, 104030)
  expect((await append(upload, 5, '')).status).toBe(204)
})

it.each(['sha256', 'sha1', 'md5'])('Bytes with a wrong %s answer 460/104033 (U-5, U-22, E-53)', async (algorithm) => {
  const upload = await begin(`${algorithm}.txt`, 5)
  const sum = (body: string) => ({
    'Upload-Checksum': `${algorithm} ${createHash(algorithm).update(body).digest('base64')}`,
  })
  for (const text of ['hello', '']) expectError(await append(upload, 0, text, sum('other')), 460, 104033)
  expect((await append(upload, 0, '', sum(''))).status).toBe(204)
  expect((await head(upload)).headers).toMatchObject({ 'upload-offset': '0' })
  expect((await append(upload, 0, 'hello', sum('hello'))).status).toBe(204)
})

it('If the first bytes have a wrong checksum, no upload is created (U-22)', async () => {
  const headers = { ...asBytes, 'Upload-Checksum': `md5 ${createHash('md5').update('other').digest('base64')}` }
  const answer = await create('wrong.txt', 5, headers, { body: 'hello' })
  expectError(answer, 460, 104033)
  expect(answer.headers).not.toHaveProperty('location')
  expectError(await read(`${own}/wrong.txt`), 404, 104001)
})

it('An upload over the limit or its length answers 413/104005 (U-12, U-23, E-33)', async () => {
  for (const length of [String(6 * 1024 ** 3), '9007199254740992', '9'.repeat(100)]) {
    expectError(await create('huge.bin', 5, { 'Upload-Length': length }), 413, 104005)
    expectError(await append(await begin('huge.bin', undefined), 0, 'x', { 'Upload-Length': length }), 413, 104005)
  }
  const upload = await begin('more.txt', 5)
  for (const isChunked of [false, true]) {
    const answer = await append(upload, 0, 'hello!', {}, { isChunked })
    expectError(answer, 413, 104005)
    expect(answer.json.message).toContain('Send only the rest.')
  }
  expect((await append(upload, 0, 'HELLO')).status).toBe(204)
  expect((await read(`${own}/more.txt`)).text).toBe('HELLO')
})

testWithAdmin('A user who did not create an upload gets 404/104032 for it (U-15, E-52)', async () => {
  const [site, other] = await Promise.all([createSite('Uploads'), createSite('Other uploads')])
  const ofSites = ['--site', String(site), '--site', String(other), '--permission', 'files']
  const [{ token: ann }, { token: anns }, { token: bobs }] = await Promise.all(
    ['ann', 'ann', 'bob'].map((user) => admin('token', 'issue', '--user', user, ...ofSites)),
  )
  const as = (token = '') => ({ token })
  const storageOf = (id: number) => `/api/v2/admin/sites/${id}/storage`
  const headers = { ...inTus, 'Upload-Length': '5', 'Upload-Metadata': metadata({ filename: 'owned.txt' }) }
  const upload = pathOf(await call(storageOf(site), { method: 'POST', ...as(ann), headers }))
  expect((await head(upload, as(bobs))).status).toBe(404)
  expectError(await append(upload, 0, 'hello', {}, as(bobs)), 404, 104032)
  expectError(await cancel(upload, as(bobs)), 404, 104032)
  const elsewhere = upload.replace(`/sites/${site}/`, `/sites/${other}/`)
  expectError(await append(elsewhere, 0, 'hello', {}, as(ann)), 404, 104032)
  expectError(await append(upload, 0, 'hello', {}, { token: target.token }), 400, 104023)
  expect((await append(upload, 0, 'hello', {}, as(anns))).status).toBe(204)
  expect((await call(`${storageOf(site)}/owned.txt`, as(ann))).text).toBe('hello')
})

// Each case has its own tokens: other cases upload meanwhile, and the service shows only the newest upload of a
// token.
testWithAdmin('An append updates the progress that ?status shows (U-16, S-86)', async () => {
  const site = await ownSiteId()
  const [first, second] = await Promise.all([1, 2].map(() => issueToken([site], 'files')))
  const percentOf = async (token = '') => (await call(at('', '?status'), { token })).json.percent
  const as = (token = '') => ({ token })
  const upload = pathOf(await create('progress.txt', 200, {}, as(first)))
  await append(upload, 0, 'x'.repeat(50), {}, as(first))
  expect(await percentOf(first)).toBe(25)
  await append(upload, 50, 'x'.repeat(149), {}, as(second))
  expect([await percentOf(first), await percentOf(second)]).toEqual([25, 99])
  await append(upload, 199, 'x', {}, as(first))
  expect(await percentOf(first)).toBe(100)
})
