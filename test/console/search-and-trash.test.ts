import type { Route } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, test } from './support/console.ts'
import { details, focusedLabel, grid, notice, press, row } from './support/page.ts'

test('names are searched below the open folder, with only the keyboard (K-22, S-127)', async ({ openFolder }) => {
  const page = await openFolder(['a/report 1.txt', 'a/b/report 2.txt', 'other.txt'])
  await row(page, 'other.txt').waitFor()
  const search = page.getByLabel('Search names below this folder')
  await search.focus()
  await page.keyboard.type('zzz')
  await page.getByRole('status').getByText('Nothing found.').waitFor()
  await search.fill('REPORT')
  const options = page.getByRole('option')
  await expect.poll(() => options.count()).toBe(2)
  await expectAccessible(page)
  const wanted = await options.nth(1).textContent()
  await press(page, 'ArrowDown', 'Enter')
  const name = /report \d\.txt/.exec(wanted ?? '')?.[0] ?? ''
  await details(page).getByRole('heading', { name }).waitFor()
  await expect.poll(() => row(page, name).getAttribute('aria-selected')).toBe('true')
  await expect.poll(() => focusedLabel(page)).toBe('Files and folders')
  await press(page, 'Escape')
  await search.fill('report')
  await search.press('Escape')
  expect(await search.inputValue()).toBe('')
})

test('the trash shows place, user and time, and restores (K-23, H-37)', async ({ openFolder, client, folder }) => {
  const names = ['sub/one.txt', 'two.txt', 'three.txt']
  const page = await openFolder(names)
  for (const name of names) await client.files.remove(`${folder}/${name}`)
  await page.getByRole('link', { name: 'Deleted files' }).press('Enter')
  const one = page
    .getByRole('row')
    .filter({ has: page.getByRole('checkbox', { name: `Select ${folder}/sub/one.txt` }) })
  expect(await one.textContent()).toMatch(new RegExp(`one\\.txt${folder}/sub.*demo.*20\\d\\d.*11 B`))
  await expectAccessible(page)
  for (const name of names.slice(0, 2)) {
    await page.getByRole('checkbox', { name: `Select ${folder}/${name}` }).focus()
    await press(page, 'Space')
  }
  // The trash would no longer list a file that was stored before the click.
  const storeFirst = async (route: Route) => {
    await client.files.put(`${folder}/two.txt`, 'newer')
    await route.continue()
  }
  await page.route(({ pathname }) => pathname.endsWith('/two.txt'), storeFirst, { times: 1 })
  await page.getByRole('button', { name: 'Restore 2 items' }).press('Enter')
  await notice(page, 'one.txt restored.').waitFor()
  await notice(page, 'two.txt: This name is taken.').waitFor()
  const texts = ['sub/one.txt', 'two.txt'].map(async (name) => (await client.files.read(`${folder}/${name}`)).text())
  expect(await Promise.all(texts)).toEqual(['sub/one.txt', 'newer'])
  expect(await page.getByRole('checkbox', { name: `Select ${folder}/three.txt` }).count()).toBe(1)
})

test('moves and renames can be undone, and a drag with Ctrl copies (K-24)', async ({ openFolder, client, folder }) => {
  const page = await openFolder(['a.txt', 'sub/b.txt'])
  await row(page, 'a.txt').click()
  await press(page, 'F2')
  await page.getByLabel('New name').fill('c.txt')
  await press(page, 'Enter')
  await notice(page, 'a.txt renamed to c.txt.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await notice(page, 'c.txt renamed to a.txt.').waitFor()
  await row(page, 'a.txt').dragTo(row(page, 'sub'))
  await notice(page, 'a.txt moved to sub.').waitFor()
  await row(page, 'a.txt').waitFor({ state: 'detached' })
  expect(await grid(page).locator('.is-active').textContent()).toContain('sub')
  await page.getByRole('button', { name: 'Undo' }).last().press('Enter')
  await row(page, 'a.txt').waitFor()
  expect((await client.files.stat(`${folder}/a.txt`)).size).toBe(5)
  await page.keyboard.down('Control')
  await row(page, 'a.txt').dragTo(page.getByRole('treeitem', { name: 'All files' }))
  await page.keyboard.up('Control')
  await notice(page, 'a.txt copied to All files.').waitFor()
  for (const path of ['a.txt', `${folder}/a.txt`]) expect((await client.files.stat(path)).size).toBe(5)
})

test('the list keeps the focus, and details follow the selected file (K-25)', async ({ openFolder }) => {
  const page = await openFolder(['a.txt', 'b.txt'])
  await row(page, 'a.txt').getByRole('link').click()
  await details(page).getByRole('heading', { name: 'a.txt' }).waitFor()
  await press(page, 'ArrowDown')
  await details(page).getByRole('heading', { name: 'b.txt' }).waitFor()
  await press(page, 'Delete')
  await page.getByRole('dialog', { name: 'Delete b.txt?' }).getByText('This deletes').waitFor()
  await expectAccessible(page)
  await press(page, 'Escape')
  await press(page, '?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await expectAccessible(page)
  await press(page, 'Escape')
  await expect.poll(() => focusedLabel(page)).toBe('Files and folders')
})

test('a sign-in page at another address shows the address of the service (K-26)', async ({ open, service }) => {
  const elsewhere = service.baseUrl.replace('127.0.0.1', 'localhost')
  const page = await open('', { token: null, baseUrl: elsewhere })
  await page.getByRole('alert').getByText(`The address of this service is set to ${service.baseUrl}.`).waitFor()
})
