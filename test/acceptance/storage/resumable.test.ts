import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { target } from '../setup/target.ts'
import { createSite, describeWithAdmin, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { type Call, call } from '../support/http.ts'
import { at, ownFolder, put, read } from '../support/storage.ts'

const own = ownFolder()

const base64 = (text: string) => Buffer.from(text).toString('base64')
const named = (name: string) => `filename ${base64(name)}`
const inTus = { 'Tus-Resumable': '1.0.0' }
const bytes = { ...inTus, 'Content-Type': 'application/offset+octet-stream' }

const create = (name: string, length: number | undefined, headers: Call['headers'] = {}, more: Call = {}) =>
  call(at(own), {
    method: 'POST',
    ...more,
    headers: {
      ...inTus,
      ...(length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
      'Upload-Metadata': named(name),
      ...headers,
    },
  })

/** The path of an upload: what its `Location` has behind the base URL. */
const pathOf = ({ headers }: Answer): string => {
  const { pathname } = new URL(headers['location'] ?? '')
  return pathname.slice(pathname.indexOf('/api/v2/'))
}

const begin = async (name: string, length: number | undefined, headers?: Call['headers']) =>
  pathOf(await create(name, length, headers))

const head = (upload: string, more: Call = {}) => call(upload, { method: 'HEAD', headers: inTus, ...more })

const append = (
  upload: string,
  offset: number,
  body: string | Buffer,
  headers: Call['headers'] = {},
  more: Call = {},
) =>
  call(upload, {
    method: 'PATCH',
    body,
    ...more,
    headers: { ...bytes, 'Upload-Offset': String(offset), ...headers },
  })

describe('A resumable upload', () => {
  it('The file is there after the last append (U-2, U-3, U-14, U-26)', async () => {
    const created = await create('pieces.txt', 11)
    expect(created.status).toBe(201)
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

  it('The file of several parts has the bytes as sent (S-83)', async () => {
    const content = Buffer.from(Array.from({ length: 9 * 1024 * 1024 }, (_, index) => index % 251))
    const upload = await begin('large.bin', content.length)
    const step = 4 * 1024 * 1024
    for (let offset = 0; offset < content.length; offset += step) {
      expect((await append(upload, offset, content.subarray(offset, offset + step))).status).toBe(204)
    }
    const { json } = await read(`${own}/large.bin`, '?meta')
    const md5 = (part: Buffer) => createHash('md5').update(part).digest()
    const parts = [md5(content.subarray(0, 8 * 1024 * 1024)), md5(content.subarray(8 * 1024 * 1024))]
    // Of parts, or of what was copied as a whole.
    const fingerprints = [`${md5(Buffer.concat(parts)).toString('hex')}-2`, md5(content).toString('hex')]
    expect(json.size).toBe(content.length)
    expect(fingerprints).toContain(json.fingerprint)
  })

  it('A creation may carry bytes, all of them or none (U-5, U-14)', async () => {
    const body = 'hello world'
    const first = await create('first.txt', body.length, bytes, { body: 'hello ' })
    expect(first).toMatchObject({ status: 201, headers: { 'upload-offset': '6' } })
    await append(pathOf(first), 6, 'world')
    expect(await create('all.txt', body.length, bytes, { body })).toMatchObject({
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

  it('The length may come later, once (U-5)', async () => {
    const upload = await begin('later.txt', undefined)
    expect((await head(upload)).headers).toMatchObject({ 'upload-defer-length': '1' })
    await append(upload, 0, 'hello')
    expectError(await append(upload, 5, '', { 'Upload-Length': '4' }), 400, 104000)
    expect((await append(upload, 5, '!', { 'Upload-Length': '6' })).status).toBe(204)
    expect((await read(`${own}/later.txt`)).text).toBe('hello!')
  })

  it('Another offset answers 409/104030, also a repeated one (U-20, U-27, E-50)', async () => {
    const upload = await begin('offset.txt', 5)
    expectError(await append(upload, 1, 'ello'), 409, 104030)
    await append(upload, 0, 'hello')
    expectError(await append(upload, 0, 'hello'), 409, 104030)
  })

  it.each(['sha256', 'sha1', 'md5'])(
    'A wrong %s answers 460/104033 and keeps nothing (U-5, U-22, E-53)',
    async (algorithm) => {
      const upload = await begin(`${algorithm}.txt`, 5)
      const sum = (body: string) => ({
        'Upload-Checksum': `${algorithm} ${createHash(algorithm).update(body).digest('base64')}`,
      })
      expectError(await append(upload, 0, 'hello', sum('other')), 460, 104033)
      expect((await head(upload)).headers).toMatchObject({ 'upload-offset': '0' })
      expect((await append(upload, 0, 'hello', sum('hello'))).status).toBe(204)
    },
  )

  it('Too many bytes answer 413/104005 (U-12, U-23, E-33)', async () => {
    expectError(await create('huge.bin', 6 * 1024 ** 3), 413, 104005)
    expectError(await append(await begin('more.txt', 5), 0, 'hello!'), 413, 104005)
  })

  it('Another version of tus answers 412 with Tus-Version (U-7)', async () => {
    const answer = await create('version.txt', 5, { 'Tus-Resumable': '0.2.2' })
    expectError(answer, 412, 100412)
    expect(answer.headers['tus-version']).toBe('1.0.0')
  })
})

describe('The rules of a resumable upload', () => {
  it('An upload needs a name, a length and the media type (U-2, E-41)', async () => {
    expectError(await create('x', 5, { 'Upload-Metadata': 'note eA==' }), 400, 104014)
    expectError(await create('x', 5, { 'Upload-Metadata': 'filename no base64' }), 400, 104000)
    expectError(await create('x', 5, { 'Upload-Length': '-1' }), 400, 104000)
    expectError(await create('x', 5, { 'Upload-Defer-Length': '1' }), 400, 104000)
    expectError(await append(await begin('type.txt', 5), 0, 'hello', { 'Content-Type': 'text/plain' }), 415, 100015)
  })

  it('The rules of an upload hold at its creation (U-11)', async () => {
    await put(`${own}/there.txt`, 'old')
    expectError(await create('there.txt', 5, { 'If-None-Match': '*' }), 412, 100412)
    expectError(
      await call(at(`${own}/there.txt/below`), {
        method: 'POST',
        headers: { ...inTus, 'Upload-Length': '5', 'Upload-Metadata': named('a') },
      }),
      400,
      104009,
    )
  })

  it('The rules hold at the end, and a refusal ends it (U-11, U-28)', async () => {
    const upload = await begin('mine.txt', 5, { 'If-None-Match': '*' })
    await append(upload, 0, 'he')
    await put(`${own}/mine.txt`, 'theirs')
    expectError(await append(upload, 2, 'llo'), 412, 100412)
    expectError(await append(upload, 2, 'llo'), 404, 104032)
    expect((await read(`${own}/mine.txt`)).text).toBe('theirs')
  })

  it('DELETE ends an upload, which is unknown then (U-3, U-24, E-52)', async () => {
    const upload = await begin('ended.txt', 5)
    expect((await call(upload, { method: 'DELETE', headers: inTus })).status).toBe(204)
    expect((await head(upload)).status).toBe(404)
    expectError(await append(upload, 0, 'hello'), 404, 104032)
  })

  it('X-HTTP-Method-Override counts at an upload, and nowhere else (U-9)', async () => {
    const upload = await begin('override.txt', 5)
    // The document does not name a POST there.
    const send = (path: string, method: string, more: Call['headers'] = {}) => {
      const headers = { ...bytes, ...more, Authorization: target.token, 'X-HTTP-Method-Override': method }
      return fetch(target.baseUrl + path, { method: 'POST', body: 'hello', headers })
    }
    expect((await send(upload, 'PATCH', { 'Upload-Offset': '0' })).status).toBe(204)
    await send(at(`${own}/override.txt`), 'DELETE')
    expect((await read(`${own}/override.txt`)).text).toBe('hello')
  })

  it('A resumable template has at most 8 MiB (U-13)', async () => {
    const create = (length: number) => {
      const headers = { ...inTus, 'Upload-Length': String(length), 'Upload-Metadata': named('a.html') }
      return call(at(`Templates/${own}`), { method: 'POST', headers })
    }
    expectError(await create(8 * 1024 ** 2 + 1), 413, 104005)
    const created = await create(8 * 1024 ** 2)
    expect(created.status).toBe(201)
    await call(pathOf(created), { method: 'DELETE', headers: inTus })
  })

  it('An upload says when it expires (U-25)', async () => {
    const created = await create('expires.txt', 4)
    const left = Date.parse(created.headers['upload-expires'] ?? '') - Date.now()
    expect(left).toBeGreaterThan(23 * 3600 * 1000)
  })

  // The token is its own: progress is that of the token's newest upload, and other cases upload meanwhile.
  testWithAdmin('An append reports the progress of its token (U-16, S-86)', async () => {
    const token = await issueToken([await ownSiteId()], '--permission', 'files')
    const upload = pathOf(await create('progress.txt', 4, {}, { token }))
    await append(upload, 0, 'x', {}, { token })
    expect((await call(at('', '?status'), { token })).json.percent).toBe(25)
  })

  it('OPTIONS answers the headers of tus without a token (U-5, U-8)', async () => {
    for (const path of [at(own), `${at(own)}/x`, '/api/v2/admin/sites/current/uploads/x']) {
      const { status, headers } = await call(path, { method: 'OPTIONS', token: null })
      expect(status).toBe(204)
      expect(headers).toMatchObject({ 'tus-version': '1.0.0', 'tus-checksum-algorithm': 'sha256,sha1,md5' })
      expect(headers['tus-extension']).toBe(
        'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
      )
      expect(Number(headers['tus-max-size'])).toBeGreaterThan(0)
    }
  })

  it('Tus-Resumable is on every answer, also on 401 (U-6)', async () => {
    const answer = await head(`/api/v2/admin/sites/current/uploads/${'a'.repeat(32)}`, { token: null })
    expect(answer).toMatchObject({ status: 401, headers: { 'tus-resumable': '1.0.0' } })
  })
})

describeWithAdmin('The owner of a resumable upload', () => {
  it('An upload is unknown to others: 404/104032 (U-15, E-52)', async () => {
    const site = await createSite('Uploads')
    const [ann, anns, bobs] = await Promise.all(
      [['ann'], ['ann'], ['bob']].map(async ([user = '']) =>
        issueToken([site], '--permission', 'files', '--user', user),
      ),
    )
    const created = await call('/api/v2/admin/sites/current/storage', {
      method: 'POST',
      ...(ann && { token: ann }),
      headers: { ...inTus, 'Upload-Length': '5', 'Upload-Metadata': named('owned.txt') },
    })
    const upload = pathOf(created)
    expectError(await append(upload, 0, 'hello', {}, { token: bobs ?? '' }), 404, 104032)
    expectError(await append(upload, 0, 'hello', {}, { token: target.token }), 400, 104023)
    expect((await append(upload, 0, 'hello', {}, { token: anns ?? '' })).status).toBe(204)
  })
})
