import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { test } from './support/console.ts'
import { choose } from './support/page.ts'

const dist = join(import.meta.dirname, '..', '..', 'console', 'dist')

/** The compressed size of a file, in bytes. */
const weigh = (name: string): number => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length
const sum = (names: readonly string[]): number => names.reduce((total, name) => total + weigh(name), 0)

const page = readFileSync(join(dist, 'index.html'), 'utf8')
const named = [...page.matchAll(/(?:src|href)="console\/([^"]+)"/g)].map(([, name = '']) => name)
const firstScripts = named.filter((name) => name.endsWith('.js'))

test('a browser first loads at most 60 kB: 45 of script, 10 of style', () => {
  const styles = named.filter((name) => name.endsWith('.css'))
  expect(styles).toHaveLength(1)
  expect(sum(firstScripts)).toBeLessThanOrEqual(45_000)
  expect(sum(styles)).toBeLessThanOrEqual(10_000)
  expect(sum([...named, 'index.html'])).toBeLessThanOrEqual(60_000)
})

test('the page first loads one script, which imports no other', () => {
  expect(firstScripts).toHaveLength(1)
  const text = readFileSync(join(dist, firstScripts[0] ?? ''), 'utf8')
  expect(text).not.toMatch(/(?:from|import)"\.\//)
})

test('scripts of other views load when needed, each at most 10 kB, all at most 99', () => {
  const scripts = readdirSync(dist).filter((name) => name.endsWith('.js'))
  const later = scripts.filter((name) => !named.includes(name))
  expect(sum(scripts)).toBeLessThanOrEqual(99_000)
  expect(later.some((name) => name.startsWith('history-view'))).toBe(true)
  for (const name of later) expect(weigh(name)).toBeLessThanOrEqual(10_000)
})

test('a token after # in the address signs in, and is never sent to a server', async ({ browser, service }) => {
  const page = await browser.newPage()
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url(), request.headers()['referer'] ?? ''))
  await page.goto(`${service.baseUrl}/console#token=${service.token}`)
  await page.getByRole('heading', { name: 'Files' }).waitFor()
  expect(page.url()).not.toContain(service.token)
  expect(seen.filter((text) => text.includes(service.token))).toEqual([])
  await page.close()
})

test('a page of one data centre also shows sites of another data centre', async ({ open, start }) => {
  const { dataCentres, token } = await start(['--data-centres', 'us:0,eu:0'])
  const { us = '', eu = '' } = dataCentres
  const page = await open('#/1001/forms/1', { token, baseUrl: eu, other: us })
  await page.getByRole('heading', { name: 'Contact us' }).waitFor()
  await page.getByRole('checkbox', { name: 'Home phone is required' }).click()
  await expect.poll(() => page.getByRole('checkbox', { name: 'Home phone is required' }).isChecked()).toBe(true)
})

test('code that is injected into the page neither runs nor sends data', async ({ browser, service }) => {
  const page = await browser.newPage()
  await page.goto(`${service.baseUrl}/console#token=${service.token}`)
  await page.getByRole('heading', { name: 'Files' }).waitFor()
  const refused = await page.evaluate(async () => {
    const found: string[] = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => found.push(effectiveDirective))
    const attempts = [
      () => {
        const script = document.createElement('script')
        script.append('window.hasRun = true')
        document.head.append(script)
      },
      () => {
        document.body.innerHTML = '<img src="x" onerror="window.hasRun = true">'
      },
      () => void fetch('http://127.0.0.2:9/token').catch(() => {}),
    ]
    for (const attempt of attempts) {
      try {
        attempt()
      } catch {
        // Some attempts throw at once.
      }
    }
    for (let wait = 0; found.length < attempts.length && wait < 1_000; wait++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    return { found: found.toSorted(), hasRun: 'hasRun' in window }
  })
  expect(refused).toEqual({
    found: ['connect-src', 'require-trusted-types-for', 'require-trusted-types-for'],
    hasRun: false,
  })
  await page.close()
})

test('the page opens the API reference in a new tab', async ({ open, service }) => {
  const page = await open('')
  const opening = page.waitForEvent('popup')
  await choose(page, 'Settings', 'API reference')
  const reference = await opening
  await reference.getByText('Open the console').first().waitFor()
  expect(reference.url()).toBe(`${service.baseUrl}/docs`)
  expect(await reference.evaluate(() => window.opener)).toBeNull()
})
