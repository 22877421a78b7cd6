import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { fieldsOf, ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'
import { read, remove, store } from '../support/storage.ts'

const files = '/api/v2/admin/sites/current/storage'

/** A gateway in front of the service may change or refuse these paths itself. */
const testOfPaths = test.skipIf(!target.directory)

test.each([
  ...['/nope', '/console/a/b', '/api/v1', '/api/v1/admin', '/api/v2/admin/sites/current/webforms'],
  `${site}/nope`,
  `${site}/webforms/1/fields`,
  `//api/v1/admin/sites/current/webforms`,
  '/API/v1/admin/sites/current/webforms',
  '/openapiXjson',
])('GET %s answers 404/100004 (A-2, E-4, E-7)', async (path) => {
  expectError(await call(path), 404, 100004)
  expectError(await call(path, { method: 'POST', token: null }), 404, 100004)
})

test('A slash at the end of a path is ignored', async () => {
  expect((await call(`${site}/webforms/`)).status).toBe(200)
})

test.each(['users', 'keys', 'tokens'])('A file in a folder with the name %s is a file (A-2)', async (name) => {
  await store(`${name}/x`, name)
  expect((await read(`${name}/x`)).text).toBe(name)
  await remove(name)
})

testOfPaths('The segments of a path are decoded once, or answer 404/100004 (E-7)', async () => {
  const segments = ['%/', '%zz/', '%ff/', '%C0%AE/', '/', 'current%2F']
  const paths = segments.map((segment) => `/api/v1/admin/sites/${segment}webforms`)
  for (const path of [...paths, `${files}%2Fa`, `/${files}/a`, `${files}a`]) {
    expectError(await call(path), 404, 100004)
  }
  expect((await call('/api/v1/admin/sites/%63urrent/webforms')).status).toBe(200)
  expectError(await call('/api/v1/admin/sites/%2563urrent/webforms'), 400, 100002)
})

testOfPaths('A path with 4,000 slashes is matched', async () => {
  expect((await call(`${files}${'/%2F'.repeat(2_000)}?meta`)).status).toBe(200)
})

test.each<[string, string, string]>([
  ['PATCH', `${site}/webforms/1/fields/system`, 'GET, POST, HEAD, OPTIONS'],
  ['DELETE', `${site}/webforms/1/fields/system`, 'GET, POST, HEAD, OPTIONS'],
  ['POST', `${site}/webforms/1/fields/system/-2`, 'GET, PUT, DELETE, HEAD, OPTIONS'],
  ['PUT', `${site}/webforms`, 'GET, HEAD, OPTIONS'],
])('The method %s at %s answers 405/100005 (E-8)', async (method, path, allow) => {
  const answer = await call(path, { method, token: null })
  expectError(answer, 405, 100005)
  expect(answer.headers['allow']).toBe(allow)
})

test('HEAD answers 405 at a path without GET (E-8)', async () => {
  const { status, headers } = await call('/api/v2/admin/invitations', { method: 'HEAD', token: null })
  expect({ status, allow: headers['allow'] }).toEqual({ status: 405, allow: 'POST, OPTIONS' })
})

test.each([
  [`${files}?meta`, 104000],
  ['/api/v2/admin/sites/current/changes?_', 104000],
  ['/webresources/api/v3/sites/current/categories?_', 220000],
])('The first of two values in the query %s is used', async (path, code) => {
  expect((await call(`${path}&limit=1&limit=x`)).status).toBe(200)
  expectError(await call(`${path}&limit=x&limit=1`), 400, code)
})

test('The first of two tokens in the query is used', async () => {
  const { token } = target
  const path = (first: string, second: string) => `${files}?meta&access_token=${first}&access_token=${second}`
  expect((await call(path(token, 'wrong'), { token: null })).status).toBe(200)
  expectError(await call(path('wrong', token), { token: null }), 401, 101000)
})

const bad = { Accept: 'image/png', 'Content-Type': 'text/plain' }
const post = (headers: Readonly<Record<string, string>>) => ({ method: 'POST', headers, body: 'x'.repeat(70_000) })

test.each<[string, Parameters<typeof call>, number]>([
  ['The route is checked before the token', ['/nope', { token: null, headers: bad }], 404],
  ['The method is checked before the token', [`${site}/webforms`, { method: 'PUT', token: null }], 405],
  ['The token is checked before the site', ['/api/v1/admin/sites/99/webforms', { token: null }], 401],
  ['The site is checked before media types', ['/api/v1/admin/sites/99/webforms', { headers: bad }], 400],
  ['Accept is checked before Content-Type', [fieldsOf(1), post(bad)], 406],
  ['Content-Type is checked before the size', [fieldsOf(1), post({ 'Content-Type': 'text/plain' })], 415],
  ['The size is checked before the body', [fieldsOf(1), post({ 'Content-Type': 'application/json' })], 413],
])('%s (A-1)', async (_, [path, options], status) => {
  expect((await call(path, options)).status).toBe(status)
})

testWithAdmin('The permission is checked before the body (A-1)', async () => {
  const token = await issueToken([await ownSiteId()])
  const path = '/api/v2/admin/sites/current/storage/a?meta'
  expectError(await call(path, { method: 'PUT', token, headers: bad, body: 'x' }), 400, 104003)
})
