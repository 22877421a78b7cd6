import { expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { test } from '../support/console.ts'
import { choose, confirm, grid, nameField, notice, row, signIn } from '../support/page.ts'

test('a token is saved for the tab, or on request on the device (K-3)', async ({ open, service }) => {
  const page = await open('', { token: null })
  const enter = async () => {
    await signIn(page, ` ${service.token}\n`)
    await grid(page).waitFor()
  }
  const signOut = async () => {
    await choose(page, 'Settings', 'Sign out')
    await nameField(page).waitFor()
  }
  await enter()
  expect(await page.evaluate(() => localStorage.getItem('site-admin-token'))).toBeNull()
  await page.reload()
  await grid(page).waitFor()
  await signOut()
  await page.getByLabel('Stay signed in').check()
  await enter()
  const other = await page.context().newPage()
  await other.goto(`${service.baseUrl}/console`)
  await other.getByRole('grid').waitFor()
  await signOut()
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(service.token)
})

test('if the service is unavailable during sign-in, the user can try again', async ({ open, service }) => {
  const page = await open('', { token: null })
  await page.route('**/api/v1/admin/sites', (route) => route.fulfill({ status: 418, body: 'Not this service.' }))
  await page.goto(`${service.baseUrl}/console?again#token=${service.token}`)
  await page.getByText('answered with status 418').waitFor()
  await page.unroute('**/api/v1/admin/sites')
  await page.getByRole('button', { name: 'Try again' }).click()
  await grid(page).waitFor()
})

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

test('the page lists the sites of a token, and an address opens its site (K-5)', async ({ start, directory, open }) => {
  const service = await start()
  await administer(directory, ['site', 'create', '--id', '2002', '--name', 'Second site'])
  const sites = ['--site', '1001', '--site', '2002', '--permission', 'files']
  const { token } = await administerJson(directory, ['token', 'issue', '--user', 'ann', ...sites])
  const page = await open('#/2002/files', { token, baseUrl: service.baseUrl })
  const choice = page.getByRole('combobox', { name: 'Site' })
  await page.getByText('This folder is empty').waitFor()
  expect(await choice.inputValue()).toBe('2002')
  await choice.selectOption('Demo site')
  await grid(page).waitFor()
  expect(page.url()).toContain('#/1001/files')
})

test('a running workflow is shown, and a deletion of its page is refused', async ({ start, directory, open }) => {
  const service = await start()
  await service.request('/api/v2/admin/sites/1001/storage/page.html', { method: 'PUT', body: '<p>page</p>' })
  await administer(directory, ['workflow', 'start', 'page.html', '--site', '1001'])
  const page = await open('#/1001/files?file=page.html', { token: service.token, baseUrl: service.baseUrl })
  await page.getByText('A workflow is running').waitFor()
  await page.keyboard.press('Escape')
  await row(page, 'page.html').click()
  await page.keyboard.press('Delete')
  await page.getByText('The service will refuse this (104011).').waitFor()
  await confirm(page, 'Delete')
  await notice(page, /workflow/).waitFor()
})

test('entries that are dragged onto a folder are moved, or with Ctrl copied', async ({
  openFolder,
  client,
  folder,
}) => {
  const page = await openFolder(['a.txt', 'b.txt', 'target/c.txt'])
  await row(page, 'a.txt').dragTo(row(page, 'target'))
  await row(page, 'a.txt').waitFor({ state: 'detached' })
  expect((await client.files.stat(`${folder}/target/a.txt`)).size).toBe(5)
  await page.keyboard.down('Control')
  await row(page, 'b.txt').dragTo(page.getByRole('treeitem', { name: 'All files' }))
  await page.keyboard.up('Control')
  await page.getByText('b.txt copied to All files.').waitFor()
  expect((await client.files.stat('b.txt')).size).toBe(5)
  expect((await client.files.stat(`${folder}/b.txt`)).size).toBe(5)
})
