import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { administerJson } from '../support/administration.ts'
import { test } from './support/console.ts'
import { choose, confirm, grid, hasFocus, notice, press, refusal, row } from './support/page.ts'

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('role') ?? document.activeElement?.className)
const expectFocus = (page: Page, place: string) => expect.poll(() => focused(page)).toBe(place)

test('the focus returns to the list when the focused element is removed', async ({ openFolder }) => {
  const page = await openFolder(['a.txt', 'b.txt', 'c.txt'])
  const removeChosen = async (count: string) => {
    await page.getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByText(`This deletes ${count}`).waitFor()
    await confirm(page, 'Delete')
  }
  await row(page, 'a.txt').click()
  await page.getByRole('button', { name: 'Clear selection' }).press('Enter')
  await expectFocus(page, 'grid')
  await row(page, 'a.txt').click()
  await removeChosen('1 file')
  await row(page, 'a.txt').waitFor({ state: 'detached' })
  await expectFocus(page, 'grid')
  // The arrow keys continue from the neighbour of the deleted file.
  expect(await grid(page).locator('.is-active').textContent()).toContain('b.txt')
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await row(page, 'a.txt').waitFor()
  await expectFocus(page, 'grid')
  await press(page, 'Control+a')
  await removeChosen('3 files')
  await page.getByText('This folder is empty').waitFor()
  await expectFocus(page, 'group')
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await page.getByText('3 items restored.').waitFor()
})

test('a double click on a folder that loads slowly leaves the focus in the list', async ({ openFolder, folder }) => {
  const page = await openFolder(['sub/a.txt'])
  const listing = Promise.withResolvers<Route>()
  await page.route(`**/storage/${folder}/sub?meta=`, (route) => listing.resolve(route), { times: 1 })
  await row(page, 'sub').getByRole('link').click()
  const held = await listing.promise
  await grid(page).waitFor({ state: 'detached' })
  await page.getByText('Loading…').click()
  await held.continue()
  await row(page, 'a.txt').waitFor()
  await expectFocus(page, 'grid')
})

test('the focus stays in the view when the button for more disappears', async ({ openFolder, client, folder }) => {
  const names = Array.from({ length: 101 }, (_, index) => `${index}.txt`)
  const page = await openFolder(names)
  const more = page.getByRole('button', { name: 'Show more' })
  await page.getByLabel('Search names below this folder').fill('.txt')
  await more.press('Enter')
  await page.getByText('101 results').waitFor()
  expect(await hasFocus(page.getByRole('main'))).toBe(true)
  await client.files.remove(folder)
  await Promise.all(names.map(async (name) => client.files.put(`${folder}/sub/${name}`, '')))
  await Promise.all(names.map((name) => client.files.remove(`${folder}/sub/${name}`)))
  await page.getByRole('link', { name: 'Deleted files' }).click()
  await more.waitFor()
  // While the list grows, somebody else makes a change. The list is then read again.
  const growing = Promise.withResolvers<Route>()
  await page.route(/deleted=all/, (route) => growing.resolve(route), { times: 1 })
  await more.press('Enter')
  const held = await growing.promise
  await client.files.put(`${folder}/last.txt`, '')
  await client.files.remove(`${folder}/last.txt`)
  await held.continue()
  await more.waitFor({ state: 'detached' })
  expect(await hasFocus(page.getByRole('main'))).toBe(true)
})

test('the focus moves to the list after a click on a checkbox', async ({ openFolder }) => {
  const page = await openFolder(['a.txt', 'b.txt', 'c.txt'])
  await page.getByRole('checkbox', { name: 'a.txt' }).click()
  await page.getByRole('checkbox', { name: 'b.txt' }).click()
  await expect.poll(() => page.getByText('2 selected').count()).toBe(1)
  expect(await focused(page)).toBe('grid')
  await press(page, 'ArrowDown', 'F2')
  await page.getByRole('dialog', { name: 'Rename c.txt' }).waitFor()
})

test('a dialog closes when the user leaves the folder in which it was opened', async ({ openFolder }) => {
  const page = await openFolder(['sub/a.txt'])
  await row(page, 'sub').getByRole('link').click()
  await row(page, 'a.txt').click()
  await press(page, 'F2')
  await page.getByLabel('New name').fill('b.txt')
  await page.goBack()
  await row(page, 'sub').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('a list ignores entries that are dragged from another page', async ({ openFolder, folder }) => {
  const page = await openFolder(['a.txt', 'sub/b.txt'])
  const taken = await row(page, 'sub').evaluate((target, path) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.setData('application/x-site-admin-paths', JSON.stringify([path]))
    const event = new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer })
    return !target.dispatchEvent(event)
  }, `${folder}/a.txt`)
  expect(taken).toBe(false)
})

test('changes of the site do not overwrite the text in a filter field', async ({ open, client, folder }) => {
  const page = await open('#/1001/history')
  await page.locator('.change').first().waitFor()
  const gate = Promise.withResolvers<void>()
  let isHeld = false
  await page.route(/changes\?.*after=/, async (route) => {
    isHeld = true
    await gate.promise
    await route.continue()
  })
  // The page opens its stream of changes again, and the test holds this stream back.
  await page.reload()
  await expect.poll(() => isHeld).toBe(true)
  await page.locator('.change').first().waitFor()
  await client.files.put(`${folder}/a.txt`, 'a')
  const search = page.getByLabel('Where')
  // Records what the page itself writes into the field.
  await search.evaluate((field) => {
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
    const set = (text: string) => {
      field.setAttribute('data-written', `${field.getAttribute('data-written') ?? ''} ${text}`.trim())
      own?.set?.call(field, text)
    }
    Object.defineProperty(field, 'value', { ...own, set })
  })
  await search.press('z')
  gate.resolve()
  await page.getByText('No changes match the filter.').waitFor()
  expect([await search.inputValue(), await search.getAttribute('data-written')]).toEqual(['z', null])
})

test('without a right on files, the console opens another view first (K-27)', async ({ open, service }) => {
  const { token } = await administerJson(service.directory, ['token', 'issue', '--user', 'ann', '--site', '1001'])
  const page = await open('#/1001/files', { token })
  await page.getByRole('heading', { name: 'Contact us' }).waitFor()
  expect(await page.getByRole('link', { name: 'Files' }).count()).toBe(0)
  await page.waitForURL('**/console#/1001/forms/1')
})

test('a link and a path can be copied, also without the clipboard', async ({ openFolder, folder, service }) => {
  const page = await openFolder(['a b.txt'])
  const search = page.getByLabel('Search names below this folder')
  for (const clipboard of ['usable', 'forbidden', 'absent']) {
    await row(page, 'a b.txt').click()
    await page.evaluate(async (state) => {
      await navigator.clipboard.writeText('nothing')
      if (state === 'usable') return
      const writeText = () => Promise.reject(new DOMException('Write permission denied.', 'NotAllowedError'))
      const value = state === 'forbidden' ? { writeText } : undefined
      Object.defineProperty(navigator, 'clipboard', { value, configurable: true })
    }, clipboard)
    await choose(page, 'More actions', 'Copy path')
    await page.getByText('Path copied.').last().waitFor()
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await search.press('Control+v')
    expect(await search.inputValue()).toBe(`/${folder}/a b.txt`)
    await search.fill('')
    await page.evaluate(() => Reflect.deleteProperty(navigator, 'clipboard'))
  }
  await row(page, 'a b.txt').click()
  await choose(page, 'More actions', 'Copy link')
  await notice(page, 'Link copied.').waitFor()
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await search.press('Control+v')
  expect(await search.inputValue()).toBe(`${service.baseUrl}/console#/1001/files/${folder}?file=a+b.txt`)
  await search.fill('')
  await page.evaluate(() => {
    navigator.clipboard.writeText = () =>
      Promise.reject(new DOMException('Write permission denied.', 'NotAllowedError'))
    document.execCommand = () => false
  })
  await row(page, 'a b.txt').click()
  await choose(page, 'More actions', 'Copy path')
  await notice(page, `/${folder}/a b.txt\nYour browser does not let this page copy.`).waitFor()
})

test('a late failure of a closed dialog does not appear in the next dialog', async ({ openFolder }) => {
  const page = await openFolder(['a.txt'])
  const gate = Promise.withResolvers<void>()
  await page.route('**/a.txt?meta=', async (route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    await gate.promise
    return refusal(507, 100507, 'The disk is full.')(route)
  })
  await row(page, 'a.txt').click()
  await press(page, 'F2')
  await page.getByLabel('New name').fill('b.txt')
  const asked = page.waitForRequest((request) => request.method() === 'PUT')
  await press(page, 'Enter')
  await asked
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'New folder' }).click()
  const next = page.getByRole('dialog')
  await next.waitFor()
  gate.resolve()
  await notice(page, 'The disk is full.').waitFor()
  expect(await next.count()).toBe(1)
})
