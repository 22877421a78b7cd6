import { beforeAll, expect, it } from 'vitest'
import { type Call, call } from '../support/http.ts'
import { at, ownFolder, store } from '../support/storage.ts'

const own = ownFolder()
const page = '<p>page</p>'

beforeAll(async () => {
  await store(`${own}/page.html`, page)
  await store(`${own}/menu.json`, '{"a":1}')
  await store(`${own}/plain`, 'no extension')
})

const read = (name: string, accept: string | null, { headers, ...options }: Call = {}) =>
  call(at(`${own}/${name}`), {
    ...options,
    ...(accept === null ? { accept } : { headers: { Accept: accept, ...headers } }),
  })

const bytes = 'application/octet-stream'

it.each([
  ...['*/*', '*/*;q=0.5', 'application/json', 'application/*, image/*', 'text/html;q=0', 'text/html;q=0, text/*'],
  ...['text/*;q=0, */*', 'text', 'text/html;q=x', ';;;,,,q=,text/', '"'],
])('With Accept: %s, a file is application/octet-stream (S-66, S-67)', async (accept) => {
  const { status, headers, text } = await read('page.html', accept)
  expect({ status, text, type: headers['content-type'] }).toEqual({ status: 200, text: page, type: bytes })
})

it.each([
  ['page.html', 'text/html', 'text/html'],
  ['page.html', 'text/*', 'text/html'],
  ['page.html', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
  ['page.html', 'text/*;q=0, text/html;q=0.1', 'text/html'],
  ['page.html', 'TEXT/HTML; charset=utf-8', 'text/html'],
  ['menu.json', 'application/json, text/javascript, */*; q=0.01', 'application/json'],
  ['menu.json', 'application/*', 'application/json'],
  ['plain', 'text/html, */*', bytes],
])('The file %s is returned with its own type for Accept: %s (S-67)', async (name, accept, type) => {
  expect((await read(name, accept)).headers['content-type']).toBe(type)
})

it('Accept may have 200 types and 8 KB', async () => {
  const many = Array.from({ length: 200 }, (_, index) => `a/t${index};q=0.${index}`).join(',')
  expect((await read('page.html', many)).headers['content-type']).toBe(bytes)
  expect((await read('page.html', `${many},text/html`)).headers['content-type']).toBe('text/html')
  expect((await read('page.html', 'text/html;q=0,'.repeat(570))).headers['content-type']).toBe(bytes)
})

it.each([
  ['*/*', bytes],
  ['text/html', 'text/html'],
])('With Accept: %s, a browser executes nothing in a file (S-67, S-68)', async (accept, type) => {
  const whole = await read('page.html', accept)
  const answers = [
    whole,
    await read('page.html', accept, { headers: { Range: 'bytes=0-2' } }),
    await read('page.html', accept, { headers: { 'If-None-Match': whole.headers['etag'] ?? '' } }),
    await read('page.html', accept, { method: 'HEAD' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 206, 304, 200])
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'content-type': type,
      vary: expect.stringMatching(/(^|, *)Accept(,|$)/),
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      etag: whole.headers['etag'],
    })
  }
})

it('The tag of a file is different for each media type (S-67)', async () => {
  const [plain, typed] = [await read('menu.json', '*/*'), await read('menu.json', 'application/json')]
  expect(plain.headers['etag']).not.toBe(typed.headers['etag'])
  const known = { headers: { 'If-None-Match': plain.headers['etag'] ?? '' } }
  expect((await read('menu.json', '*/*', known)).status).toBe(304)
  expect((await read('menu.json', 'application/json', known)).status).toBe(200)
  const both = `${plain.headers['etag']}, ${typed.headers['etag']}`
  expect((await read('menu.json', 'application/json', { headers: { 'If-None-Match': both } })).status).toBe(304)
})
