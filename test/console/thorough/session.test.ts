import { expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { test } from '../support/console.ts'
import { confirm, grid, notice, row, signIn } from '../support/page.ts'

test('language and theme are chosen by keyboard, and saved', async ({ open }) => {
  const page = await open('#/1001/files', { locale: 'de-DE' })
  await page.getByRole('button', { name: 'Neuer Ordner' }).waitFor()
  await page.getByRole('button', { name: 'Einstellungen' }).press('Enter')
  await page.getByRole('menuitemradio', { name: 'Dunkel' }).press('Enter')
  await page.getByRole('button', { name: 'Einstellungen' }).press('Enter')
  await page.keyboard.press('End')
  await page.getByRole('menuitemradio', { name: 'English' }).press('Enter')
  await page.getByRole('button', { name: 'New folder' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'New folder' }).waitFor()
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark')
})

test('the page lists the sites of a token, and an address opens its site (K-5)', async ({ service, open }) => {
  await administer(service.directory, ['site', 'create', '--id', '2002', '--name', 'Second site'])
  const sites = ['--site', '1001', '--site', '2002', '--permission', 'files']
  const { token } = await administerJson(service.directory, ['token', 'issue', '--user', 'ann', ...sites])
  const page = await open('#/2002/files', { token })
  const choice = page.getByRole('combobox', { name: 'Site' })
  await page.getByText('This folder is empty').waitFor()
  expect(await choice.inputValue()).toBe('2002')
  await choice.selectOption('Demo site')
  await grid(page).waitFor()
  expect(page.url()).toContain('#/1001/files')
})

test('a browser that forbids its storage, or has none left, signs in (K-3)', async ({ service, open }) => {
  const page = await open('', { token: null })
  await page.addInitScript(() => {
    Object.defineProperty(window, 'sessionStorage', {
      get() {
        throw new DOMException('Access is denied for this document.', 'SecurityError')
      },
    })
    Storage.prototype.setItem = () => {
      throw new DOMException('The storage is full.', 'QuotaExceededError')
    }
  })
  await page.reload()
  await page.getByLabel('Stay signed in').check()
  await signIn(page, service.token)
  await grid(page).waitFor()
  await page.getByRole('button', { name: 'Show as a grid' }).click()
  await page.getByRole('button', { name: 'Show as a list' }).waitFor()
})

test('a running workflow is shown, and a deletion of its page is refused', async ({ service, folder, openFolder }) => {
  const page = await openFolder(['page.html'])
  await administer(service.directory, ['workflow', 'start', `${folder}/page.html`, '--site', '1001'])
  await row(page, 'page.html').getByRole('link').click()
  await page.getByText('A workflow is running').waitFor()
  await page.keyboard.press('Escape')
  await row(page, 'page.html').click()
  await page.keyboard.press('Delete')
  await page.getByText('page.html: A running workflow prevents the deletion').waitFor()
  await confirm(page, 'Delete')
  await notice(page, /workflow/).waitFor()
})
