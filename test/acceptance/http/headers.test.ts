import { expect, test } from 'vitest'
import { site } from '../support/forms.ts'
import { call } from '../support/http.ts'

const exposed =
  'Location ETag Content-Range X-Request-Id Retry-After Last-Modified X-Content-Length Upload-Offset Upload-Length ' +
  'Upload-Defer-Length Upload-Metadata Upload-Expires Tus-Resumable Tus-Version Tus-Extension Tus-Max-Size ' +
  'Tus-Checksum-Algorithm'

test('Every answer has a request id that pages of any origin may read (A-28, A-31)', async () => {
  const answers = await Promise.all([
    call('/health', { token: null }),
    call(`${site}/webforms`),
    call('/nope'),
    call(`${site}/webforms`, { token: null }),
  ])
  expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(4)
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/\S{8}/),
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': expect.stringContaining('max-age='),
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual(expect.arrayContaining(exposed.split(' ')))
  }
  expect(answers[0]).toMatchObject({ status: 200, json: { status: 'ok' } })
  expect(answers.map(({ headers }) => headers['vary'])).toEqual([undefined, 'Accept', 'Accept', 'Accept'])
  expect(answers[2]?.headers['cache-control']).toBe('no-store')
})

test.each(['/health', `${site}/webforms`, '/nope/at/all'])('OPTIONS %s returns CORS headers (A-30)', async (path) => {
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
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  })
})

test('OPTIONS lists the methods of the path, and allows only valid header names (A-30)', async () => {
  const headers = { 'Access-Control-Request-Headers': 'x: y' }
  const answer = await call(`${site}/webforms`, { method: 'OPTIONS', token: null, headers })
  expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS')
  expect(answer.headers['access-control-allow-headers']).toMatch(/^Authorization, /)
})

test('URLs in answers do not depend on the Host header (A-27)', async () => {
  const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
  const { json } = await call(`${site}/webforms`, { headers })
  expect(json.links[0].uri).not.toContain('evil')
})
