import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'

const anonymous = { token: null }

/** The addresses of the files that the page loads, as written in the page. */
const filesOf = (page: string): string[] => [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)

test('The console is a page that loads its files from relative addresses (K-1)', async () => {
  const { status, headers, text } = await call('/console', anonymous)
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'private, no-cache' })
  const again = await call('/console', { ...anonymous, headers: { 'If-None-Match': headers['etag'] ?? '' } })
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' })
  expect(filesOf(text).length).toBeGreaterThanOrEqual(3)
  expect(filesOf(text).filter((url) => !url.startsWith('console/'))).toEqual([])
  expect(text).not.toMatch(/<style|<script>|style=| on\w+=/)
})

test('The console may load only its own files, and call only data centres', async () => {
  const policy = (await call('/console', anonymous)).headers['content-security-policy'] ?? ''
  const { origin } = new URL(target.baseUrl)
  const none = ['default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types']
  const self = ['script-src', 'style-src', 'frame-src']
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      ...none.map((name) => `${name} 'none'`),
      ...self.map((name) => `${name} 'self'`),
      "img-src 'self' blob:",
      ...['connect-src', 'media-src'].map((name) => expect.stringMatching(`^${name} 'self' (.* )?${origin}( |$)`)),
      "require-trusted-types-for 'script'",
    ]),
  )
  expect(policy).not.toMatch(/unsafe|\*|data:/)
})

test('The console is isolated from other pages, and turns off unneeded features (K-20)', async () => {
  const { headers } = await call('/console', anonymous)
  expect(headers['cross-origin-opener-policy']).toBe('same-origin')
  expect(headers['permissions-policy']?.split(', ')).toEqual(
    expect.arrayContaining(['camera=()', 'clipboard-read=()', 'geolocation=()', 'microphone=()', 'usb=()']),
  )
  expect(headers['permissions-policy']).not.toContain('clipboard-write')
})

test('Only the console can embed the frame for pages; the frame loads nothing (K-45)', async () => {
  const { status, headers } = await call('/console/frame.html', anonymous)
  expect(status).toBe(200)
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'private, no-cache' })
  expect(headers['content-security-policy']?.split('; ')).toEqual([
    ...["default-src 'none'", "style-src 'unsafe-inline'", 'img-src data:', 'font-src data:', "base-uri 'none'"],
    ...["form-action 'none'", "frame-ancestors 'self'"],
  ])
})

test('A file of the console has a new name after each change, and is cached for a year', async () => {
  const urls = filesOf((await call('/console', anonymous)).text)
  expect(urls.length).toBeGreaterThan(0)
  for (const url of urls) {
    const { status, headers } = await call(`/${url}`, anonymous)
    expect({ url, status, cache: headers['cache-control'] }).toEqual({
      url,
      status: 200,
      cache: 'public, max-age=31536000, immutable',
    })
    expect(headers['content-type']).toMatch(/^(text\/(javascript|css)|image\/svg\+xml); charset=utf-8$/)
  }
})

test('GET /console/ with any other name answers 404/100004', async () => {
  const missing = ['nope.js', 'index.html', 'frameXhtml', '.txt', '%2E%2E%2Fpackage.json', 'licenses.txt%00']
  for (const name of [...missing, 'x'.repeat(5_000)]) {
    expectError(await call(`/console/${name}`, anonymous), 404, 100004)
  }
})

test('GET /console/ returns the page, or a redirect to the page', async () => {
  const { status, headers } = await call('/console/', anonymous)
  if (status === 308) expect(headers['location']).toBe('../console')
  // A gateway may remove the slash before the request reaches the service.
  else expect(status).toBe(200)
})

const many = Array.from({ length: 200 }, (_, index) => `application/type-${index};q=0.${index}`).join(', ')
const html = [
  ...['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html', 'image/png, text/html;q=0.1', 'text/html;q=0.001'],
  ...['text/html;level=1', 'a/b;c=",", text/html'],
]
const other = [
  ...['*/*;q=0.1, application/*', 'text/plain', 'text/html;q=0.000, */*', '*/html'],
  ...['text/html;q=nonsense', 'text/html;q=-1', 'a/b;c="text/html"', 'text/html;q=0,'.repeat(500)],
  ...['html', 'text/', 'text/htm', 'xtext/html', 'text/html5'],
]
test.each([
  ['redirects a browser to the console', 302, [...html, `${many}, text/html`]],
  ['does not redirect a program', 200, [...other, many]],
])('GET / %s, by the types that Accept names (K-2)', async (_, status, accepts) => {
  for (const accept of accepts) {
    const { headers, ...answer } = await call('/', { ...anonymous, headers: { Accept: accept } })
    expect(answer.status, accept).toBe(status)
    expect(headers).toMatchObject({ vary: 'Accept', ...(status === 302 && { location: 'console' }) })
  }
})

test.each(['*/*', 'application/json'])('GET / with Accept: %s returns addresses in JSON (K-2)', async (accept) => {
  const { baseUrl } = target
  const links = [
    { rel: 'console', uri: `${baseUrl}/console` },
    { rel: 'docs', uri: `${baseUrl}/docs` },
    { rel: 'openapi', uri: `${baseUrl}/openapi.json` },
  ]
  const answer = await call('/', { ...anonymous, headers: { Accept: accept } })
  expect(answer).toMatchObject({ status: 200, json: { status: 'ok', links } })
})
