import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './support/console.ts'

const row = (page: Page, name: string) => page.getByRole('grid').getByRole('row').filter({ hasText: name })
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('role') ?? document.activeElement?.className)

test('the focus returns to the list when its element is gone', async ({ open, client, folder }) => {
  await Promise.all(['a.txt', 'b.txt', 'c.txt'].map((name) => client.files.put(`${folder}/${name}`, name)))
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'a.txt').click()
  await page.getByRole('button', { name: 'Clear selection' }).press('Enter')
  await expect.poll(() => focused(page)).toBe('grid')
  await row(page, 'a.txt').click()
  await page.getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByText('This deletes 1 file').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
  await row(page, 'a.txt').waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('grid')
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await row(page, 'a.txt').waitFor()
  await expect.poll(() => focused(page)).toBe('grid')
  await page.keyboard.press('Control+a')
  await page.getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByText('This deletes 3 files').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByText('This folder is empty').waitFor()
  await expect.poll(() => focused(page)).toBe('group')
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await page.getByText('3 items restored.').waitFor()
})

test('the focus stays in a form after its field is removed', async ({ open, client }) => {
  const form = 2
  for await (const { id } of client.forms.fields(form)) await client.forms.remove(form, id)
  await client.forms.add(form, { type: -2, mandatory: false })
  const page = await open(`#/1001/forms/${form}`)
  await page.getByRole('button', { name: 'Actions for Name' }).press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByText('This form has no system field yet.').waitFor()
  await expect.poll(() => focused(page)).toBe('pane')
})

test('the focus moves from a checked box into the list', async ({ open, client, folder }) => {
  await Promise.all(['a.txt', 'b.txt', 'c.txt'].map((name) => client.files.put(`${folder}/${name}`, name)))
  const page = await open(`#/1001/files/${folder}`)
  await page.getByRole('checkbox', { name: 'a.txt' }).click()
  await page.getByRole('checkbox', { name: 'b.txt' }).click()
  await expect.poll(() => page.getByText('2 selected').count()).toBe(1)
  expect(await focused(page)).toBe('grid')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('F2')
  await page.getByRole('dialog', { name: 'Rename c.txt' }).waitFor()
})

test('a folder cannot get an invisible name', async ({ open, folder }) => {
  const page = await open(`#/1001/files/${folder}`)
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByLabel('Folder name').fill('  ')
  expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
})

test('a dialog closes with the folder in which it was opened', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/sub/a.txt`, 'a')
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'sub').getByRole('link').click()
  await row(page, 'a.txt').click()
  await page.keyboard.press('F2')
  await page.getByLabel('New name').fill('b.txt')
  await page.goBack()
  await row(page, 'sub').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a new name with a slash is not a path to another folder', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'a.txt').click()
  await page.keyboard.press('F2')
  const field = page.getByLabel('New name')
  await field.fill('sub/a.txt')
  await page.keyboard.press('Enter')
  expect(await field.evaluate((shown) => shown instanceof HTMLInputElement && shown.validity.patternMismatch)).toBe(
    true,
  )
  await field.fill('b.txt')
  await page.keyboard.press('Enter')
  await row(page, 'b.txt').waitFor()
  expect((await client.files.stat(`${folder}/b.txt`)).size).toBe(1)
})

test('entries dragged from another page are ignored', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  await client.files.createFolder(`${folder}/sub`)
  const page = await open(`#/1001/files/${folder}`)
  await row(page, 'sub').waitFor()
  const taken = await row(page, 'sub').evaluate((target, path) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.setData('application/x-site-admin-paths', JSON.stringify([path]))
    const event = new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer })
    return !target.dispatchEvent(event)
  }, `${folder}/a.txt`)
  expect(taken).toBe(false)
})

test('text in a filter field stays during changes of the site', async ({ open, client, folder }) => {
  const page = await open('#/1001/history')
  await page.locator('.change').first().waitFor()
  const gate = Promise.withResolvers<void>()
  let isHeld = false
  await page.route(/changes\?.*after=/, async (route) => {
    isHeld = true
    await gate.promise
    await route.continue()
  })
  await expect.poll(() => isHeld).toBe(true)
  await client.files.put(`${folder}/a.txt`, 'a')
  const search = page.getByLabel('Where')
  // The page itself writes this into the field.
  await search.evaluate((field) => {
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
    if (!own) return
    Object.defineProperty(field, 'value', {
      ...own,
      set(text: string) {
        field.setAttribute('data-written', `${field.getAttribute('data-written') ?? ''} ${text}`.trim())
        own.set?.call(field, text)
      },
    })
  })
  await search.press('z')
  gate.resolve()
  await page.getByText('No changes match the filter.').waitFor()
  expect([await search.inputValue(), await search.getAttribute('data-written')]).toEqual(['z', null])
})

test('an open page accepts a link with a token', async ({ open, service }) => {
  const page = await open('', { token: null })
  await page.getByLabel('Access token').waitFor()
  await page.evaluate((token) => {
    location.hash = `token=${token}`
  }, service.token)
  await page.getByRole('grid').waitFor()
  expect(page.url()).toBe(`${service.baseUrl}/console#/1001/files`)
})

test('a token without access to files shows this, and leads to the other views', async ({ open, service }) => {
  const page = await open('', { token: null })
  await page.route('**/api/v1/admin/sites', async (route) => {
    const response = await route.fetch()
    const { items, ...page } = await response.json()
    await route.fulfill({ response, json: { ...page, items: [{ ...items[0], permissions: [] }] } })
  })
  await page.getByLabel('Access token').fill(service.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Your token has no access to the files of this site.').waitFor()
  await page.getByRole('link', { name: 'Forms' }).click()
  await page.getByRole('heading', { name: 'Contact us' }).waitFor()
})

test('the selection survives a new sign-in', async ({ open, service }) => {
  const page = await open('#/1001/categories/3')
  await page.getByRole('button', { name: 'Link news' }).click()
  const dialog = page.getByRole('dialog', { name: 'Link to Events' })
  await dialog.locator('tbody').getByRole('checkbox', { disabled: false, checked: false }).first().click()
  let isExpired = true
  await page.route('**/categories/3/news', (route) =>
    isExpired
      ? route.fulfill({ status: 401, json: { code: 101000, message: 'The token has expired.', requestId: 'r' } })
      : route.continue(),
  )
  await dialog.getByRole('button', { name: 'Link 1' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.getByLabel('Access token').fill(service.token)
  isExpired = false
  await again.getByRole('button', { name: 'Sign in', exact: true }).click()
  await again.waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Link 1' }).click()
  await page.getByText('1 item linked.').waitFor()
})

test('a path is copied, also on a page from http', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/a b.txt`, 'a')
  const page = await open(`#/1001/files/${folder}`)
  await page.context().grantPermissions(['clipboard-write'])
  const search = page.getByLabel('Search this folder')
  for (const isSecure of [true, false]) {
    await row(page, 'a b.txt').click()
    await page.evaluate(async (isSecureContext) => {
      await navigator.clipboard.writeText('nothing')
      if (isSecureContext) return
      Object.defineProperty(window, 'isSecureContext', { value: false })
      Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })
    }, isSecure)
    await page.getByRole('button', { name: 'More actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Copy path' }).click()
    await page.getByText('Path copied.').last().waitFor()
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await search.press('Control+v')
    expect(await search.inputValue()).toBe(`/${folder}/a b.txt`)
    await search.fill('')
    await page.evaluate(() => Reflect.deleteProperty(navigator, 'clipboard'))
  }
})

test('a failure after its dialog was closed is reported, and does not affect the next dialog', async ({
  open,
  client,
  folder,
}) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  const page = await open(`#/1001/files/${folder}`)
  const gate = Promise.withResolvers<void>()
  await page.route('**/a.txt?meta=', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    await gate.promise
    return route.fulfill({ status: 507, json: { code: 100507, message: 'The disk is full.', requestId: 'r' } })
  })
  await row(page, 'a.txt').click()
  await page.keyboard.press('F2')
  await page.getByLabel('New name').fill('b.txt')
  const asked = page.waitForRequest((request) => request.method() === 'PUT')
  await page.keyboard.press('Enter')
  await asked
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'New folder' }).click()
  const next = page.getByRole('dialog')
  await next.waitFor()
  gate.resolve()
  await page.getByLabel('Notices').getByText('The disk is full.').waitFor()
  expect(await next.count()).toBe(1)
})
