import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { SiteClient } from '../../client/src/index.ts'
import { expectAccessible, test } from './support/console.ts'
import { hasFocus, notice, refusal } from './support/page.ts'

const linkedWith = async ({ categories }: SiteClient, category: number, kind: 'news' | 'blogs' = 'news') => {
  const objects = await Array.fromAsync(categories[kind].of(category, { fields: 'objectId' }))
  return objects.map(({ objectId = 0 }) => objectId).toSorted((a, b) => a - b)
}

const empty = async (client: SiteClient, category: number): Promise<void> => {
  for (const kind of ['news', 'blogs'] as const) {
    const ids = await linkedWith(client, category, kind)
    if (ids.length > 0) await client.categories[kind].unlink(category, ids)
  }
}

const titles = (page: Page) => page.locator('.split-main tbody .items-title bdi')

test('objects are linked from a search, unlinked, and linked again with Undo (K-15)', async ({ open, client }) => {
  await empty(client, 3)
  const page = await open('#/1001/categories/3')
  await page.getByText('No news item is linked to this category.').waitFor()
  await page.getByRole('button', { name: 'Link news' }).click()
  const dialog = page.getByRole('dialog', { name: 'Link to Events' })
  await dialog.getByRole('searchbox').fill('OPENS')
  await expect
    .poll(async () => {
      const found = await dialog.locator('tbody bdi').allTextContents()
      return found.length > 0 && found.every((text) => /opens/.test(text))
    })
    .toBe(true)
  const boxes = dialog.locator('tbody').getByRole('checkbox')
  await boxes.nth(0).click()
  await boxes.nth(2).click({ modifiers: ['Shift'] })
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Link 3' }).click()
  await expect.poll(() => titles(page).count()).toBe(3)
  const wanted = await linkedWith(client, 3)
  expect(wanted).toHaveLength(3)

  // In the reversed order, a range with Shift still begins at the object that was selected first.
  const rows = page.locator('.split-main tbody').getByRole('checkbox')
  const before = await titles(page).allTextContents()
  await rows.nth(0).click()
  await page.getByRole('button', { name: 'Released' }).click()
  await expect.poll(() => titles(page).allTextContents()).toEqual(before.toReversed())
  await rows.nth(1).click({ modifiers: ['Shift'] })
  await page.getByText('2 selected').waitFor()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
  await expectAccessible(page)
  const unlinking: string[] = []
  page.on('request', (request) => request.method() === 'DELETE' && unlinking.push(request.url()))
  await page.getByRole('button', { name: 'Unlink 3' }).dblclick()
  await page.getByText('No news item is linked to this category.').waitFor()
  expect(await linkedWith(client, 3)).toEqual([])
  expect(unlinking).toHaveLength(1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => titles(page).count()).toBe(3)
  expect(await linkedWith(client, 3)).toEqual(wanted)
})

test('the address keeps the search, order and kind of objects (K-15)', async ({ open, client }) => {
  const page = await open('#/1001/categories/1')
  await titles(page).first().waitFor()
  const all = await titles(page).count()
  await page.getByRole('button', { name: 'Title' }).click()
  await expect.poll(() => page.getByRole('columnheader', { name: 'Title' }).getAttribute('aria-sort')).toBe('ascending')
  await page.getByRole('searchbox', { name: 'Search titles' }).fill('office')
  await expect.poll(() => titles(page).count()).toBeLessThan(all)
  const found = await titles(page).allTextContents()
  expect(found).toEqual(found.toSorted())
  expect(page.url()).toContain('q=office&sort=title')
  await page.reload()
  await expect.poll(() => titles(page).allTextContents()).toEqual(found)
  await page.getByRole('searchbox', { name: 'Search titles' }).fill('nothing like it')
  await page.getByText('No title matches.').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Blogs' }).click()
  const blogs = await linkedWith(client, 1, 'blogs')
  await expect.poll(() => titles(page).count()).toBe(blogs.length)
  // A dialog about a blog must not change the news item with the same id.
  await titles(page).first().click()
  await page.getByRole('dialog').waitFor()
  await page.goBack()
  await page.getByText('No title matches.').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('the list shows links that other people add or remove', async ({ open, client }) => {
  await empty(client, 3)
  const page = await open('#/1001/categories/3')
  await page.getByText('No news item is linked to this category.').waitFor()
  await client.categories.news.link(3, [1])
  await expect.poll(() => titles(page).count(), { timeout: 10_000 }).toBe(1)
})

test('a switch shows or hides an object in the category (K-15)', async ({ open, client }) => {
  await empty(client, 3)
  await client.categories.news.link(3, [7])
  const displayed = async () => (await client.categories.news.pageOf(3, { skip: 0, limit: 1 })).items[0]?.displayable
  const page = await open('#/1001/categories/3', { forcedColors: 'active' })
  const display = page.getByRole('switch', { name: /^Display .* in this category$/ })
  const shown = await display.screenshot()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
  await display.press('Space')
  await expect.poll(() => display.isChecked()).toBe(false)
  await display.blur()
  expect(shown.equals(await display.screenshot())).toBe(false)
  expect(await displayed()).toBe(0)
  // Undo restores the link as it was: hidden, although the object was selected before.
  await page.getByRole('button', { name: 'Unlink 1' }).click()
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await expect.poll(displayed).toBe(0)
  await expect.poll(() => hasFocus(page.getByRole('main'))).toBe(true)
  await page.route('**/categories/3/news', refusal(500, 100500, 'Something failed here. Repeat it.'))
  await display.press('Space')
  await notice(page, 'Something failed here. Repeat it.').waitFor()
  expect(await display.isChecked()).toBe(false)
})

test('saving categories of an object changes only those that the user changed (K-15)', async ({ open, client }) => {
  await empty(client, 3)
  await client.categories.news.link(3, [4])
  await client.categories.news.linkCategories(4, [1])
  await client.categories.news.unlinkCategories(4, [2])
  const page = await open('#/1001/categories/3')
  await page.locator('.items-title').getByRole('button').press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This is item 4 of the demo site.').waitFor()
  await expect.poll(() => dialog.getByRole('checkbox', { name: 'Company' }).isChecked()).toBe(true)
  await expectAccessible(page)
  await dialog.getByRole('checkbox', { name: 'Products' }).click()
  await dialog.getByRole('checkbox', { name: 'Events' }).click()
  // Meanwhile, someone else changes another category of the object.
  await client.categories.news.unlinkCategories(4, [1])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('No news item is linked to this category.').waitFor()
  expect(await Array.fromAsync(client.categories.news.categoriesOf(4))).toMatchObject([{ name: 'Products' }])
})
