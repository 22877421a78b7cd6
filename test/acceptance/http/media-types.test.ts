import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { fieldsOf, formWith, layoutOf, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

test.each([
  ['', 'json'],
  ['*/*', 'json'],
  ['application/*', 'json'],
  ['text/xml', 'xml'],
  ['text/*', 'xml'],
  ['application/json;q=0, */*', 'xml'],
  ['application/json;q=0.4, application/xml;q=0.5', 'xml'],
  ['application/xml;q=0.4, application/json', 'json'],
  ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', 'xml'],
  ['APPLICATION/XML', 'xml'],
  ['application/xml; charset=utf-8', 'xml'],
  ['application/xml;charset="UTF-8";q=0.9, application/json;charset=utf-8;q=0.1', 'xml'],
  ['application/xml; version=1.0; q=0.9, application/json;q=0.1;level="1,2"', 'xml'],
  ['application/json, application/xml', 'json'],
  ['application/xml, application/json', 'xml'],
  ['application/xml;q=0, */*', 'json'],
  ['image/png, */*;q=0.1', 'json'],
])('Accept: %j is answered in %s (F-26)', async (accept, format) => {
  const { headers } = await call(`${site}/webforms`, { headers: { Accept: accept } })
  expect(headers['content-type']).toBe(`application/${format}; charset=utf-8`)
})

const unmet = ['image/png', 'application/xhtml+xml', 'application/json;q=0', 'text/*;q=0, application/*;q=0', 'json']
test.each(unmet)('Accept: %s is refused with 406/100006, in JSON (E-9)', async (accept) => {
  const headers = { Accept: accept }
  expectError(await call(`${site}/webforms`, { headers }), 406, 100006)
  expectError(await call('/api/v1/admin/tokens', { method: 'POST', token: null, headers, body: {} }), 406, 100006)
})

const field = '{"type":{"id":-2},"mandatory":true}'
test.each([
  ['text/plain', field],
  ['multipart/form-data; boundary=x', field],
  ['application/octet-stream', field],
  ['application/json; charset=utf-16', field],
  ['application/json; charset=iso-8859-1', field],
  ['application/json2', field],
  ['x', field],
  ['application/x-www-form-urlencoded', 'type=1'],
  ['application/x-www-form-urlencoded', 'true'],
  ['application/x-www-form-urlencoded', '<field><mandatory>true</mandatory></field>'],
])('A body of type %s is refused with 415/100015: %s (A-5, E-11)', async (type, body) => {
  const form = await formWith()
  const answer = await call(fieldsOf(form), { method: 'POST', body, headers: { 'Content-Type': type } })
  expectError(answer, 415, 100015)
  expect(await layoutOf(form)).toBe('')
})

const links = '/webresources/api/v3/sites/current/categories/1/news'
test.each([
  ['POST', fieldsOf(1), 'application/json'],
  ['POST', fieldsOf(1), 'application/xml'],
  ['POST', '/api/v1/admin/tokens', 'application/x-www-form-urlencoded'],
  ['PUT', `${storage}/a?meta`, 'application/json'],
  ['DELETE', links, 'application/json'],
])('%s %s refuses a compressed body of type %s with 415/100015 (E-11)', async (method, path, type) => {
  const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' }
  expectError(await call(path, { method, body: gzipSync('{}'), headers }), 415, 100015)
})

test.each([
  ['none', '{"mandatory":true}'],
  ['application/json;charset="UTF-8"', '{"mandatory":true}'],
  ['Application/JSON ; Charset=US-ASCII', '{"mandatory":true}'],
  ['application/json', '\uFEFF{"mandatory":true}'],
  ['application/x-www-form-urlencoded', ' \r\n {"mandatory":true}'],
  ['text/xml; charset=utf-8', '<f><mandatory>true</mandatory></f>'],
])('A body of type %s is read: %j (A-4, A-5)', async (type, body) => {
  const form = await formWith({ id: -2 })
  const headers = type === 'none' ? {} : { 'Content-Type': type }
  expect((await call(`${fieldsOf(form)}/-2`, { method: 'PUT', body, headers })).status).toBe(200)
  expect((await call(`${fieldsOf(form)}/-2`)).json.mandatory).toBe(true)
})

test.each([
  ['cut off within a character', [0x22, 0xe2, 0x82, 0x22]],
  ['in UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ['in Latin 1', [0x22, 0xe9, 0x22]],
  ['in overlong UTF-8', [0x22, 0xc0, 0xaf, 0x22]],
])('A body that is %s is refused with 115000 (E-20)', async (_, bytes) => {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await call(fieldsOf(await formWith()), { method: 'POST', body: Buffer.from(bytes), headers })
  expectError(answer, 400, 115000)
  expect(answer.json.message).toContain('not UTF-8')
})

test('A body over 64 KiB is refused with 413/100013 (E-10)', async () => {
  const form = await formWith()
  const padded = (length: number) => {
    return field.slice(0, -1) + ' '.repeat(length - field.length) + field.slice(-1)
  }
  const post = (body: string) =>
    call(fieldsOf(form), { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
  expectError(await post(padded(64 * 1024 + 1)), 413, 100013)
  expect(await layoutOf(form)).toBe('')
  expect((await post(padded(64 * 1024))).status).toBe(201)
  const rename = { method: 'PUT', body: { name: 'x'.repeat(64 * 1024) } }
  expectError(await call(`${storage}/a?meta`, rename), 413, 100013)
})
