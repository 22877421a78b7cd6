import { expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { test } from '../support/console.ts'

test('a link with a token signs in, and the token stays neither in the address nor in the browser history', async ({
  open,
  service,
}) => {
  const page = await open(`#token=${service.token}`, { token: null })
  await page.getByRole('grid').waitFor()
  expect(page.url()).toBe(`${service.baseUrl}/console#/1001/files`)
  await page.goBack()
  expect(page.url()).not.toContain(service.token)
})

test('a token is saved for the tab, or on the device on request (K-3)', async ({ open, service }) => {
  const page = await open('', { token: null })
  const signIn = async () => {
    await page.getByLabel('Access token').fill(` ${service.token}\n`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('grid').waitFor()
  }
  const signOut = async () => {
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Access token').waitFor()
  }
  await signIn()
  expect(await page.evaluate(() => [sessionStorage.length > 0, localStorage.getItem('site-admin-token')])).toEqual([
    true,
    null,
  ])
  await page.reload()
  await page.getByRole('grid').waitFor()
  await signOut()
  await page.getByLabel('Stay signed in').check()
  await signIn()
  const other = await page.context().newPage()
  await other.goto(`${service.baseUrl}/console`)
  await other.getByRole('grid').waitFor()
  await signOut()
  expect(
    await page.evaluate(
      (token) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]).includes(token),
      service.token,
    ),
  ).toBe(false)
})

test('a wrong token is refused with the message of the service, and the page explains where to get one', async ({
  open,
}) => {
  const page = await open('', { token: null })
  await page.getByLabel('Access token').fill('wrong')
  await page.keyboard.press('Enter')
  expect(await page.getByRole('alert').textContent()).toMatch(/token/i)
  expect(await page.getByLabel('Access token').getAttribute('aria-invalid')).toBe('true')
})

test('an unavailable service during sign-in is asked again with the same token', async ({ open, service }) => {
  const page = await open('', { token: null })
  await page.route('**/api/v1/admin/sites', (route) => route.fulfill({ status: 418, body: 'Not this service.' }))
  await page.goto(`${service.baseUrl}/console?again#token=${service.token}`)
  await page.getByText('answered with status 418').waitFor()
  await page.unroute('**/api/v1/admin/sites')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('grid').waitFor()
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

test('the sites of a token are offered, and an address leads to its site (K-5)', async ({ start, directory, open }) => {
  const service = await start()
  await administer(directory, ['site', 'create', '--id', '2002', '--name', 'Second site'])
  const sites = ['--site', '1001', '--site', '2002', '--permission', 'files']
  const { token } = await administerJson(directory, ['token', 'issue', '--user', 'ann', ...sites])
  const page = await open('#/2002/files', { token, baseUrl: service.baseUrl })
  const choice = page.getByRole('combobox', { name: 'Site' })
  await page.getByText('This folder is empty').waitFor()
  expect(await choice.inputValue()).toBe('2002')
  await choice.selectOption('Demo site')
  await page.getByRole('grid').waitFor()
  expect(page.url()).toContain('#/1001/files')
})

test('a running workflow is shown, and a deletion is refused with the message of the service', async ({
  start,
  directory,
  open,
}) => {
  const service = await start()
  await service.request('/api/v2/admin/sites/1001/storage/page.html', { method: 'PUT', body: '<p>page</p>' })
  await administer(directory, ['workflow', 'start', 'page.html', '--site', '1001'])
  const page = await open('#/1001/files?file=page.html', { token: service.token, baseUrl: service.baseUrl })
  await page.getByText('A workflow is running').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('grid').getByRole('row').filter({ hasText: 'page.html' }).click()
  await page.keyboard.press('Delete')
  await page.getByText('The service will refuse this (104011).').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).last().click()
  await page
    .getByRole('region', { name: 'Notices' })
    .getByText(/workflow/)
    .waitFor()
})

test('entries dragged onto a folder are moved, or copied with Ctrl', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  await client.files.put(`${folder}/b.txt`, 'b')
  await client.files.createFolder(`${folder}/target`)
  const page = await open(`#/1001/files/${folder}`)
  const row = (name: string) => page.getByRole('grid').getByRole('row').filter({ hasText: name })
  await row('a.txt').dragTo(row('target'))
  await row('a.txt').waitFor({ state: 'detached' })
  expect((await client.files.stat(`${folder}/target/a.txt`)).size).toBe(1)
  await page.keyboard.down('Control')
  await row('b.txt').dragTo(page.getByRole('treeitem', { name: 'All files' }))
  await page.keyboard.up('Control')
  await page.getByText('1 item copied.').waitFor()
  expect((await client.files.stat('b.txt')).size).toBe(1)
  expect((await client.files.stat(`${folder}/b.txt`)).size).toBe(1)
})
