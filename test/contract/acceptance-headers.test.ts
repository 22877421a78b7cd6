import { expect, test } from 'vitest'
import { createCheck } from '../acceptance/support/document.ts'
import { underOwnNames } from '../acceptance/support/headers-on-the-way.ts'

const check = createCheck({
  paths: { '/health': { get: { responses: { 200: { headers: { ETag: { required: true } } } } } } },
  components: { schemas: {} },
})
const answerWith = (headers: Readonly<Record<string, string>>) =>
  check('GET', '/health', { status: 200, headers: { etag: '"1"', ...headers }, text: '' })

const ofProxies = ['Age', 'Connection', 'Date', 'Server', 'Via', 'X-Amz-Cf-Id', 'X-Amzn-Trace-Id', 'X-Cache']
test.each(ofProxies)('the suite accepts the header %s, which a proxy adds', (name) => {
  expect(() => answerWith({ [name.toLowerCase()]: 'x' })).not.toThrow()
})

test('the suite refuses a header that the OpenAPI document does not describe', () => {
  expect(() => answerWith({ 'x-powered-by': 'x' })).toThrow('The header x-powered-by is not documented')
})

test('the suite finds headers that the gateway has renamed', () => {
  const head = {
    'content-length': '0',
    'x-amzn-remapped-content-length': '10',
    'x-amzn-remapped-www-authenticate': 'Bearer',
  }
  expect(underOwnNames(head)).toMatchObject({ 'content-length': '10', 'www-authenticate': 'Bearer' })
  expect(underOwnNames({ 'content-length': '3' })).toEqual({ 'content-length': '3' })
})
