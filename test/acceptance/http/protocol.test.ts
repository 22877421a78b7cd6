import { describe, expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { expectError } from '../support/expectations.ts'
import { fieldsOf, formWith, layoutOf, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

describe('routes', () => {
  test.each([
    '/nope',
    '/console/a/b',
    '/api/v1',
    '/api/v1/admin',
    `${site}/nope`,
    `${site}/webforms/1/fields`,
    `//api/v1/admin/sites/current/webforms`,
  ])('%s is 404 / 100004', async (path) => {
    expectError(await call(path), 404, 100004)
    expectError(await call(path, { method: 'POST', token: null }), 404, 100004)
  })

  test('a slash at the end changes nothing', async () => {
    expect((await call(`${site}/webforms/`)).status).toBe(200)
  })

  test.each<[string, string, string]>([
    ['PATCH', `${site}/webforms/1/fields/system`, 'GET, POST, HEAD, OPTIONS'],
    ['DELETE', `${site}/webforms/1/fields/system`, 'GET, POST, HEAD, OPTIONS'],
    ['POST', `${site}/webforms/1/fields/system/-2`, 'GET, PUT, DELETE, HEAD, OPTIONS'],
    ['PUT', `${site}/webforms`, 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 / 100005 with Allow', async (method, path, allow) => {
    const answer = await call(path, { method, token: null })
    expectError(answer, 405, 100005)
    expect(answer.headers['allow']).toBe(allow)
  })
})

describe('a query parameter that is given twice', () => {
  const files = '/api/v2/admin/sites/current/storage'

  test.each([`${files}?meta&limit=1&limit=x`, '/api/v2/admin/sites/current/changes?limit=1&limit=x'])(
    'counts as it is given first: %s',
    async (path) => {
      expect((await call(path)).status).toBe(200)
      expectError(await call(path.replace('limit=1&limit=x', 'limit=x&limit=1')), 400, 104000)
    },
  )

  test('is no other token than the first one', async () => {
    const { token } = target
    const path = (first: string, second: string) => `${files}?meta&access_token=${first}&access_token=${second}`
    expect((await call(path(token, 'wrong'), { token: null })).status).toBe(200)
    expectError(await call(path('wrong', token), { token: null }), 401, 101000)
  })
})

describe('media types', () => {
  test.each(['image/png', 'application/xhtml+xml', 'application/json;q=0', 'text/*;q=0, application/*;q=0'])(
    'Accept: %s is 406 / 100006, with a JSON body all the same',
    async (accept) => {
      expectError(await call(`${site}/webforms`, { headers: { Accept: accept } }), 406, 100006)
    },
  )

  test.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/json; charset=utf-16',
    'x',
  ])('Content-Type: %s is 415 / 100015 and changes nothing', async (type) => {
    const form = await formWith()
    const body = '{"type":{"id":-2},"mandatory":true}'
    const answer = await call(fieldsOf(form), { method: 'POST', body, headers: { 'Content-Type': type } })
    expectError(answer, 415, 100015)
    expect(await layoutOf(form)).toBe('')
  })

  test('form data that is no JSON is 415 / 100015', async () => {
    const form = await formWith()
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expectError(await call(fieldsOf(form), { method: 'POST', body: 'type=1', headers }), 415, 100015)
  })

  test('a body over 64 KiB is 413 / 100013, one of 64 KiB is read', async () => {
    const form = await formWith()
    const padded = (length: number) => {
      const text = '{"type":{"id":-2},"mandatory":true}'
      return text.slice(0, -1) + ' '.repeat(length - text.length) + text.slice(-1)
    }
    const post = (body: string) =>
      call(fieldsOf(form), { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    expectError(await post(padded(64 * 1024 + 1)), 413, 100013)
    expect(await layoutOf(form)).toBe('')
    expect((await post(padded(64 * 1024))).status).toBe(201)
  })
})

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

describe('headers', () => {
  test('every answer has a request id of its own, and may be read by any origin', async () => {
    const answers = await Promise.all([
      call('/health'),
      call(`${site}/webforms`),
      call('/nope'),
      call(`${site}/webforms`, { token: null }),
    ])
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(4)
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'x-request-id': expect.stringMatching(/\S{8}/),
        'access-control-allow-origin': '*',
        'access-control-expose-headers': expect.stringMatching(
          /Location.*ETag.*X-Request-Id.*Upload-Offset.*Tus-Resumable/,
        ),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': expect.stringContaining('max-age='),
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      })
    }
  })

  test.each(['/health', `${site}/webforms`, '/nope/at/all'])(
    'OPTIONS %s is the CORS answer, without a token',
    async (path) => {
      const headers = {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization, content-type, if-match',
      }
      const { status, text, headers: answered } = await call(path, { method: 'OPTIONS', token: null, headers })
      expect({ status, text }).toEqual({ status: 204, text: '' })
      expect(answered).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'authorization, content-type, if-match',
        'access-control-allow-methods': expect.stringMatching(/GET.*PATCH/),
      })
    },
  )

  test('URLs in answers do not follow the Host header', async () => {
    const { json } = await call(`${site}/webforms`, { headers: { Host: 'evil.example' } })
    expect(json.links[0].uri).not.toContain('evil')
  })
})

test('GET /health answers without a token', async () => {
  const { status, json } = await call('/health', { token: null })
  expect({ status, json }).toEqual({ status: 200, json: { status: 'ok' } })
})
