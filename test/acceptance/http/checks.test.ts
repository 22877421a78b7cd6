import { describe, expect, test } from 'vitest'
import { issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { fieldsOf, ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

describe('The order of the checks', () => {
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
})
