import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, test } from './support/console.ts'

const changes = (page: Page) => page.locator('.change')
const newest = (page: Page) => changes(page).first()
const expectTypes = (page: Page, types: readonly string[]) =>
  expect.poll(() => page.locator('.change-type').allTextContents()).toEqual(types)

test('a new change appears at once, with a link to the changed file or form', async ({ open, client, folder }) => {
  const page = await open('#/1001/history')
  await newest(page).waitFor()
  await client.files.put(`${folder}/<b>bold & "quotes" 🎉.txt`, 'text')
  await expect.poll(() => newest(page).textContent(), { timeout: 10_000 }).toContain('<b>bold & "quotes" 🎉.txt')
  await newest(page).click()
  const dialog = page.getByRole('dialog', { name: 'Uploaded' })
  await dialog.getByText('demo', { exact: true }).waitFor()
  await expectAccessible(page)
  await dialog.getByRole('link', { name: 'Go there' }).click()
  await page.getByRole('link', { name: '<b>bold & "quotes" 🎉.txt' }).waitFor()
  expect(page.url()).toContain(`/files/${folder}`)
})

test('the address keeps the filter of the history (K-16)', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  await client.files.remove(`${folder}/a.txt`)
  const page = await open('#/1001/history')
  await newest(page).waitFor()
  await page.getByLabel('Where').fill(`/${folder}`)
  await expectTypes(page, ['File deleted', 'Uploaded', 'Folder created'])
  await page.getByLabel('What').selectOption('file.removed')
  await expect.poll(() => changes(page).count()).toBe(1)
  await page.reload()
  await expectTypes(page, ['File deleted'])
  await page.getByRole('button', { name: 'Clear filter' }).click()
  await page.getByLabel('Who').selectOption('npm start')
  const actors = async () => new Set(await page.locator('.change-actor').allTextContents())
  await expect.poll(actors).toEqual(new Set(['npm start']))
  await page.getByLabel('Where').fill('nowhere')
  await page.getByText('No changes match the filter.').waitFor()
  await expectAccessible(page)
})

test('the history shows the files of an upload in one line that expands (K-16)', async ({ open, client, folder }) => {
  for (let number = 1; number <= 12; number++) await client.files.put(`${folder}/sub/${number}.txt`, '')
  const page = await open(`#/1001/history?where=${folder}`)
  const line = page.getByRole('button', { name: new RegExp(`12 files into ${folder}/sub`) })
  await line.press('Enter')
  expect(await line.getAttribute('aria-expanded')).toBe('true')
  await expect
    .poll(() => page.locator('.change.is-inside .change-subject').allTextContents())
    .toEqual(Array.from({ length: 12 }, (_, index) => `${12 - index}.txt `))
  await expectAccessible(page)
  await line.press('Enter')
  await expect.poll(() => changes(page).count()).toBe(2)
})

test('the history scrolls back to the first change of the site (K-16)', async ({ open }) => {
  const page = await open('')
  await page.route(/changes\?.*before=/, (route) =>
    route.continue({ url: route.request().url().replace('limit=500', 'limit=15') }),
  )
  await page.getByRole('link', { name: 'History' }).click()
  await newest(page).waitFor()
  const older = page.getByRole('button', { name: 'Show older changes' })
  await expect
    .poll(async () => {
      await page.locator('.history-list .rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight))
      return older.count()
    })
    .toBe(0)
  await page.getByText('Site created').last().waitFor()
})

test('the history calls a move within a folder a rename', async ({ open, client, folder }) => {
  await client.files.put(`${folder}/a.txt`, 'a')
  await client.files.move(`${folder}/a.txt`, `${folder}/b.txt`)
  await client.files.move(`${folder}/b.txt`, `${folder}/sub/b.txt`)
  const page = await open('#/1001/history')
  await page.getByLabel('What').selectOption('file.moved')
  await page.getByLabel('Where').fill(`/${folder}`)
  await expectTypes(page, ['Moved', 'Renamed'])
  await changes(page).last().click()
  await page.getByRole('dialog', { name: 'Renamed' }).waitFor()
})
