import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { administer, administerJson } from '../support/administration.ts'
import { test as base, expectAccessible } from './support/console.ts'
import { choose, follow, grid, nameField, refusal, widthOf } from './support/page.ts'

/** The token of the demo site, and another token for a second site. */
const test = base.extend('two', { scope: 'file' }, async ({ service }) => {
  await administer(service.directory, ['site', 'create', '--id', '2002', '--name', 'Second site'])
  const { token } = await administerJson(service.directory, ['token', 'issue', '--user', 'ann', '--site', '2002'])
  return { baseUrl: service.baseUrl, own: service.token, other: String(token) }
})

const question = (page: Page) => page.getByRole('dialog', { name: 'Sign in with the token of the link?' })
const button = (page: Page, name: string) => question(page).getByRole('button', { name, exact: true })
const siteName = (page: Page) => page.locator('.top .site-name').textContent()
const formsHeading = (page: Page) => page.getByRole('heading', { name: 'Contact us' })
const noForms = (page: Page) => page.getByText('This site has no web form yet.')
const tokensOf = (page: Page) =>
  page.evaluate(() => ({
    tab: sessionStorage.getItem('site-admin-token'),
    device: localStorage.getItem('site-admin-token'),
  }))

/** A browser with the token saved on the device, in a tab that is signed out. */
const keepOnDevice = (page: Page, token: string) =>
  page.evaluate((kept) => localStorage.setItem('site-admin-token', kept), token)

test('a link with another token asks the user, who can keep the old token (K-21)', async ({ two, open }) => {
  const page = await open('#/1001/files?file=a.txt')
  await grid(page).waitFor()
  const before = { url: page.url(), tab: two.own, device: null }
  for (const answer of [() => button(page, 'Stay').press('Enter'), () => page.keyboard.press('Escape')]) {
    await follow(page, `token=${two.other}&/2002/forms`)
    await question(page).getByText('Demo site').waitFor()
    await question(page).getByText('Second site').waitFor()
    await expect.poll(() => button(page, 'Stay').evaluate((stay) => stay === document.activeElement)).toBe(true)
    expect({ url: page.url(), ...(await tokensOf(page)) }).toEqual(before)
    await answer()
    await question(page).waitFor({ state: 'detached' })
    expect({ url: page.url(), ...(await tokensOf(page)) }).toEqual(before)
    expect(await siteName(page)).toBe('Demo site')
  }
  await page.goBack()
  expect(page.url()).not.toContain(two.other)
})

test('a user who accepts the token of a link sees the page of the link (K-21)', async ({ two, open }) => {
  const page = await open('#/1001/categories/1')
  await page.locator('tbody tr').first().waitFor()
  await follow(page, `token=${two.other}&/2002/forms/5`)
  await question(page).getByText('this tab forgets your current token').waitFor()
  await button(page, 'Switch').press('Enter')
  await noForms(page).waitFor()
  expect(await siteName(page)).toBe('Second site')
  expect(page.url()).toBe(`${two.baseUrl}/console#/2002/forms/5`)
  expect(await tokensOf(page)).toEqual({ tab: two.other, device: null })
  // If the address names no place, the page starts at the site of the token.
  await follow(page, `token=${two.own}`)
  await button(page, 'Switch').click()
  await formsHeading(page).waitFor()
  expect(page.url()).toBe(`${two.baseUrl}/console#/1001/forms/1`)
})

test('a link in a new tab asks the user, and the token of the device stays (K-21)', async ({ two, open }) => {
  const first = await open('', { token: null })
  await keepOnDevice(first, two.own)
  const page = await first.context().newPage()
  await page.goto(`${two.baseUrl}/console#token=${two.other}`)
  await question(page).getByText('Second site').waitFor()
  expect(page.url()).not.toContain(two.other)
  await button(page, 'Stay').click()
  expect(await siteName(page)).toBe('Demo site')
  expect(await tokensOf(page)).toEqual({ tab: null, device: two.own })

  await follow(page, `token=${two.other}`)
  await question(page).getByText('stays on this device').waitFor()
  await button(page, 'Switch').click()
  await expect.poll(() => siteName(page)).toBe('Second site')
  expect(await tokensOf(page)).toEqual({ tab: two.other, device: two.own })
  await page.reload()
  await choose(page, 'Settings', 'Sign out')
  await nameField(page).waitFor()
  expect(await tokensOf(page)).toEqual({ tab: null, device: two.own })
})

test('a link with the current token only opens another page (K-21)', async ({ two, open }) => {
  const page = await open('', { token: null })
  await keepOnDevice(page, two.own)
  await page.goto(`${two.baseUrl}/console?again#token=${two.own}&/1001/forms/1`)
  await formsHeading(page).waitFor()
  await follow(page, `token=${two.own}&/1001/categories/1`)
  await page.locator('tbody tr').first().waitFor()
  expect(await question(page).count()).toBe(0)
  expect(page.url()).toBe(`${two.baseUrl}/console?again#/1001/categories/1`)
  expect(await tokensOf(page)).toEqual({ tab: null, device: two.own })
})

test('a link with an invalid token reports the fault, and signs nobody out (K-21)', async ({ two, open }) => {
  const page = await open('#/1001/forms/1')
  await formsHeading(page).waitFor()
  await follow(page, 'token=invalid')
  expect(await question(page).getByRole('alert').textContent()).toMatch(/token/i)
  expect(await button(page, 'Switch').isDisabled()).toBe(true)
  await button(page, 'Stay').click()
  // The answer for the older of two links is late.
  const late = Promise.withResolvers<void>()
  await page.route('**/admin/me', (route) => late.promise.then(() => route.continue()))
  const asked = page.waitForRequest('**/admin/me')
  await follow(page, `token=${two.other}`)
  await asked
  await follow(page, 'token=invalid')
  await question(page).getByRole('alert').waitFor()
  const answered = page.waitForResponse('**/admin/me')
  late.resolve()
  await (await answered).finished()
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  expect(await button(page, 'Switch').isDisabled()).toBe(true)
  await button(page, 'Stay').click()
  await page.reload()
  await formsHeading(page).waitFor()
  expect(await tokensOf(page)).toEqual({ tab: two.own, device: null })
})

test('a link signs in after the saved token is refused, or after a sign-out (K-21)', async ({ two, open }) => {
  const page = await open(`#token=${two.other}&/2002/forms`, { token: 'revoked' })
  await noForms(page).waitFor()
  expect(await tokensOf(page)).toEqual({ tab: two.other, device: null })
  await choose(page, 'Settings', 'Sign out')
  await nameField(page).waitFor()
  await follow(page, `token=${two.own}`)
  await formsHeading(page).or(grid(page)).waitFor()
  expect(await tokensOf(page)).toEqual({ tab: two.own, device: null })
})

test('a link replaces an expired token, and the page forgets the expired one (K-21)', async ({ two, open }) => {
  const page = await open('#/1001/files')
  await grid(page).waitFor()
  const expired = refusal(401, 101000, 'The token has expired.')
  await page.route('**/api/**', (route) =>
    route.request().headers()['authorization'] === two.own ? expired(route) : route.continue(),
  )
  await follow(page, '/1001/forms/1')
  await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
  await follow(page, `token=${two.other}&/2002/forms`)
  await question(page).getByText('Second site').waitFor()
  await button(page, 'Switch').click()
  await noForms(page).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await tokensOf(page)).toEqual({ tab: two.other, device: null })
})

test('if a token of a link cannot be checked, the page asks again later (K-21)', async ({ two, open }) => {
  const page = await open('')
  await grid(page).waitFor()
  // In the first round, the service fails to check the token of the link, and in the second round the saved token.
  for (const go of [
    () => follow(page, `token=${two.other}`),
    () => page.goto(`${two.baseUrl}/console?again#token=${two.other}`),
  ]) {
    await page.route('**/api/v1/admin/sites', (route) => route.fulfill({ status: 418, body: 'Not this service.' }))
    await go()
    await page.getByText('answered with status 418').waitFor()
    await page.unroute('**/api/v1/admin/sites')
    await page.getByRole('button', { name: 'Try again' }).click()
    await question(page).getByText('Second site').waitFor()
  }
  expect(await tokensOf(page)).toEqual({ tab: two.own, device: null })
})

test('the question about a link is accessible in both themes, and fits a phone', async ({ two, open }) => {
  const viewport = { width: 320, height: 640 }
  const page = await open('#/1001/forms/1', { viewport, locale: 'de-DE' })
  await formsHeading(page).waitFor()
  await follow(page, `token=${two.other}`)
  const german = page.getByRole('dialog', { name: 'Mit dem Token des Links anmelden?' })
  await german.getByText('Second site').waitFor()
  expect(await widthOf(page)).toBeLessThanOrEqual(320)
  await expectAccessible(page)
})
