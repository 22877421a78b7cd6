import { describe, expect, test } from 'vitest'
import { site } from '../support/forms.ts'
import { call } from '../support/http.ts'

describe('checks come in the order route, method, token, site, media types, size, body', () => {
  const bad = { Accept: 'image/png', 'Content-Type': 'text/plain' }
  const huge = 'x'.repeat(70_000)

  test.each<[string, Parameters<typeof call>, number]>([
    ['an unknown route comes before a missing token', ['/nope', { token: null, headers: bad }], 404],
    ['a wrong method comes before a missing token', [`${site}/webforms`, { method: 'PUT', token: null }], 405],
    ['a missing token comes before a foreign site', ['/api/v1/admin/sites/99/webforms', { token: null }], 401],
    ['a foreign site comes before media types', ['/api/v1/admin/sites/99/webforms', { headers: bad }], 400],
    ['406 comes before 415', [`${site}/webforms/1/fields/system`, { method: 'POST', headers: bad, body: huge }], 406],
    [
      '415 comes before 413',
      [`${site}/webforms/1/fields/system`, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: huge }],
      415,
    ],
    [
      '413 comes before the body',
      [
        `${site}/webforms/1/fields/system`,
        { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: huge },
      ],
      413,
    ],
  ])('%s', async (_, [path, options], status) => {
    expect((await call(path, options)).status).toBe(status)
  })
})
