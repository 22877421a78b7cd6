import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'

const anonymous = { token: null }

test('The OpenAPI 3.1 document can be read without a token (A-29)', async () => {
  const { status, headers, json } = await call('/openapi.json', anonymous)
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json; charset=utf-8' })
  expect(json).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), info: { title: 'site-admin' } })
  const again = await call('/openapi.json', { ...anonymous, headers: { 'If-None-Match': headers['etag'] ?? '' } })
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' })
  // The only server is the data centre that sent the document.
  expect(json.servers).toEqual([expect.objectContaining({ url: target.baseUrl })])
})

test('The reference page loads nothing from other hosts', async () => {
  const { status, headers, text } = await call('/docs', anonymous)
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/html; charset=utf-8' })
  expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self';/,
  )
  expect(headers['content-security-policy']).not.toMatch(/unsafe|\*/)
})

test.each([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
])('The service serves the file %s of the reference page', async (name, type) => {
  expect((await call('/docs', anonymous)).text).toContain(`docs/${name}`)
  const { status, headers, text } = await call(`/docs/${name}`, anonymous)
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type })
  expect(text.length).toBeGreaterThan(100_000)
  const again = await call(`/docs/${name}`, { ...anonymous, headers: { 'If-None-Match': headers['etag'] ?? '' } })
  expect(again.status).toBe(304)
})

const foreign = ['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/constructor', '/docs/%00']
test.each(foreign)('GET of the file %s of the reference page answers 404/100004', async (path) => {
  expectError(await call(path, anonymous), 404, 100004)
})
