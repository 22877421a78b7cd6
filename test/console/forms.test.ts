import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Field, FieldTypeId, SiteClient } from '../../client/src/index.ts'
import { test } from './support/console.ts'

/** A form of the demo that no other test here uses. */
const form = 2
const view = `#/1001/forms/${form}`

const fieldsOf = async ({ forms }: SiteClient): Promise<Field[]> => {
  const fields: Field[] = []
  for await (const field of forms.fields(form)) fields.push(field)
  return fields
}
const idsOf = async (client: SiteClient) => (await fieldsOf(client)).map(({ id }) => id)

const fill = async (client: SiteClient, types: readonly FieldTypeId[]): Promise<void> => {
  for (const { id } of await fieldsOf(client)) await client.forms.remove(form, id)
  for (const type of types) await client.forms.add(form, { type, mandatory: false })
}

const rows = (page: Page) => page.locator('.field-row .field-name bdi:first-child')
const rowCalled = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const expectRows = (page: Page, names: readonly string[]) =>
  expect.poll(() => rows(page).allTextContents(), { timeout: 10_000 }).toEqual(names)

/** Hides changes of others until the page does something. */
const withoutNews = (page: Page) => page.route('**/changes?*', (route) => route.abort())

describe('by keyboard alone,', () => {
  test('a field is added from the catalogue, made required, moved, removed and restored (K-13)', async ({
    open,
    client,
  }) => {
    await fill(client, [-2, -3])
    const page = await open(view)
    await expectRows(page, ['Name', 'Email address'])
    await page.getByRole('button', { name: 'Add a field' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Add a field to Newsletter' })
    await dialog.getByRole('searchbox').fill('birth')
    await dialog.getByRole('radio', { name: 'Date of birth' }).press('Space')
    await page.keyboard.press('Enter')
    await expectRows(page, ['Name', 'Email address', 'Date of birth'])

    await page.getByRole('checkbox', { name: 'Date of birth is required' }).press('Space')
    await page.getByRole('button', { name: 'Move Date of birth' }).focus()
    // Each key is for the handle of the row that the previous key moved.
    for (const [key, place] of [
      ['ArrowUp', 2],
      ['ArrowUp', 1],
      ['ArrowDown', 2],
      ['ArrowDown', 3],
      ['ArrowUp', 2],
      ['ArrowUp', 1],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByText(`Date of birth is now ${place} of 3.`).waitFor()
    }
    await expectRows(page, ['Date of birth', 'Name', 'Email address'])
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('Move Date of birth')
    await expect.poll(() => fieldsOf(client)).toMatchObject([{ id: -7, mandatory: true }, { id: -2 }, { id: -3 }])

    await page.getByRole('button', { name: 'Actions for Date of birth' }).press('Enter')
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await expectRows(page, ['Name', 'Email address'])
    await page.getByRole('button', { name: 'Undo' }).press('Enter')
    await expectRows(page, ['Date of birth', 'Name', 'Email address'])
    expect(await fieldsOf(client)).toMatchObject([{ id: -7, mandatory: true }, { id: -2 }, { id: -3 }])
  })
})

test('a field is dragged by its handle, and Escape cancels this (K-13)', async ({ open, client }) => {
  await fill(client, [-2, -3, -7, -20])
  const page = await open(view)
  const middleOf = async (name: string) => {
    const box = await page.getByRole('button', { name: `Move ${name}` }).boundingBox()
    return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }
  }
  const drag = async (name: string, onto: string) => {
    const [from, to] = [await middleOf(name), await middleOf(onto)]
    await page.mouse.move(from.x, from.y)
    await page.mouse.down()
    await page.mouse.move(to.x, to.y + 10, { steps: 4 })
  }
  await drag('Name', 'Date of birth')
  await page.mouse.up()
  await expectRows(page, ['Email address', 'Date of birth', 'Name', 'Home phone'])
  await drag('Home phone', 'Email address')
  await page.keyboard.press('Escape')
  await page.mouse.up()
  await expect.poll(() => idsOf(client)).toEqual([-3, -7, -2, -20])
  await expectRows(page, ['Email address', 'Date of birth', 'Name', 'Home phone'])
})

describe('two people who edit one form', () => {
  test('do not overwrite each other: the page shows the new state, and offers the lost change again (K-14)', async ({
    open,
    client,
  }) => {
    await fill(client, [-2, -3, -7])
    const page = await open(view)
    await withoutNews(page)
    await expectRows(page, ['Name', 'Email address', 'Date of birth'])
    await client.forms.change(form, -7, { order: 1 })
    await page.getByRole('button', { name: 'Move Name' }).press('ArrowDown')
    await page.getByText('Someone else has changed the form.').waitFor()
    await expectRows(page, ['Date of birth', 'Name', 'Email address'])
    expect(await idsOf(client)).toEqual([-7, -2, -3])
    await page.getByRole('button', { name: 'Make my change' }).click()
    await expectRows(page, ['Date of birth', 'Email address', 'Name'])
    await expect.poll(() => idsOf(client)).toEqual([-7, -3, -2])
  })

  test('see each other’s changes, and keep their place', async ({ open, client }) => {
    await fill(client, [-2, -3])
    const page = await open(view)
    await page.getByRole('button', { name: 'Move Email address' }).focus()
    await client.forms.add(form, { type: -22, mandatory: true, order: 1 })
    await expectRows(page, ['Mobile phone', 'Name', 'Email address'])
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Move Email address')
  })
})

test('a refused change is shown beside its field, with the message of the service, and can be repeated (K-19)', async ({
  open,
  client,
}) => {
  await fill(client, [-2])
  const page = await open(view)
  let isDown = true
  await page.route('**/fields/system/-2', (route) => {
    if (!isDown || route.request().method() !== 'PUT') return route.fallback()
    return route.fulfill({
      status: 500,
      json: { code: 100500, message: 'Something failed here. Repeat it.', requestId: 'r' },
    })
  })
  await page.getByRole('checkbox', { name: 'Name is required' }).click()
  const failure = page.getByRole('alert').filter({ hasText: 'Something failed here. Repeat it.' })
  await failure.waitFor()
  await expect.poll(() => page.getByRole('checkbox', { name: 'Name is required' }).isChecked()).toBe(false)
  isDown = false
  await failure.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(async () => (await fieldsOf(client))[0]?.mandatory).toBe(true)
  await expect.poll(() => failure.count()).toBe(0)
})

test('a field that only an import can store is removed after a confirmation', async ({ open }) => {
  const page = await open('#/1001/forms/1')
  await rowCalled(page, 'Image verification')
    .getByRole('button', { name: /^Actions/ })
    .click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove Image verification?' })
  await dialog.getByText('cannot add a field of this type').waitFor()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => rowCalled(page, 'Image verification').count()).toBe(0)
})
