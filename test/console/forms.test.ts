import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, test } from './support/console.ts'
import { fieldsOf, fill, form, idsOf } from './support/fields.ts'
import { choose, focusedLabel, notice, press, refusal } from './support/page.ts'

const view = `#/1001/forms/${form}`
const rows = (page: Page) => page.locator('.field-row .field-name bdi:first-child')
const expectRows = (page: Page, names: readonly string[]) =>
  expect.poll(() => rows(page).allTextContents(), { timeout: 10_000 }).toEqual(names)

test('a field is added, required, moved, removed and restored by keyboard (K-13)', async ({ open, client }) => {
  await fill(client, [-2, -3])
  const page = await open(view)
  await expectRows(page, ['Name', 'Email address'])
  await page.getByRole('button', { name: 'Add a field' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Add a field to Newsletter' })
  await dialog.getByRole('searchbox').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('birth')
  await dialog.getByRole('radio', { name: 'Date of birth' }).press('Space')
  expect(await dialog.getByRole('group').innerText()).toBe('Field\nDate of birth')
  await expectAccessible(page)
  await page.keyboard.press('Control+s')
  await notice(page, 'Date of birth added.').waitFor()
  await expectRows(page, ['Name', 'Email address', 'Date of birth'])

  await page.getByRole('checkbox', { name: 'Date of birth is required' }).press('Space')
  await page.getByRole('button', { name: 'Move Date of birth' }).focus()
  // Each key press goes to the handle of the row that the previous press moved: two up, two down, two up.
  for (const [index, place] of [2, 1, 2, 3, 2, 1].entries()) {
    await press(page, index === 2 || index === 3 ? 'ArrowDown' : 'ArrowUp')
    await page.getByText(`Date of birth is now ${place} of 3.`).waitFor()
  }
  await expectRows(page, ['Date of birth', 'Name', 'Email address'])
  await expect.poll(() => focusedLabel(page)).toBe('Move Date of birth')
  await expect.poll(() => fieldsOf(client)).toMatchObject([{ id: -7, mandatory: true }, { id: -2 }, { id: -3 }])

  await page.getByRole('button', { name: 'Actions for Date of birth' }).press('Enter')
  await expectAccessible(page)
  await press(page, 'End', 'Enter')
  await expectRows(page, ['Name', 'Email address'])
  await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('pane')
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await expectRows(page, ['Date of birth', 'Name', 'Email address'])
  expect(await fieldsOf(client)).toMatchObject([{ id: -7, mandatory: true }, { id: -2 }, { id: -3 }])
})

test('the preview shows a form as visitors of the site see the form (K-13)', async ({ open, client }) => {
  await fill(client, [-3, -304, -10, -302, -301, -403])
  await client.forms.change(form, -3, { mandatory: true })
  const page = await open(view)
  await page.getByRole('button', { name: 'Preview' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Preview of Newsletter' })
  const mail = dialog.getByLabel('Email address')
  expect(await mail.evaluate((field) => [field.getAttribute('type'), field.matches(':required')])).toEqual([
    'email',
    true,
  ])
  await dialog.getByRole('group', { name: 'Home address' }).getByLabel('City').fill('Bonn')
  expect(await dialog.getByText('Form security').count()).toBe(0)
  await expectAccessible(page)
  await press(page, 'Escape')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Preview')
})

test('a field is dragged by its handle, and Escape cancels the drag (K-13)', async ({ open, client }) => {
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

test('a change by someone else is not overwritten, and the user can try again (K-14)', async ({ open, client }) => {
  await fill(client, [-2, -3, -7])
  const page = await open(view)
  // Hides changes of other people until the page itself changes something.
  await page.route('**/changes?*', (route) => route.abort())
  // The page may already wait for changes.
  await page.reload()
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

test('a page shows the fields that others add, and the focus stays in place', async ({ open, client }) => {
  await fill(client, [-2, -3])
  const page = await open(view)
  await page.getByRole('button', { name: 'Move Email address' }).focus()
  await client.forms.add(form, { type: -22, mandatory: true, order: 1 })
  await expectRows(page, ['Mobile phone', 'Name', 'Email address'])
  expect(await focusedLabel(page)).toBe('Move Email address')
})

test('a refused change is shown beside its field, and can be repeated (K-19)', async ({ open, client }) => {
  await fill(client, [-2])
  const page = await open(view)
  let isDown = true
  const refuse = refusal(500, 100500, 'Something failed here. Repeat it.')
  await page.route('**/fields/system/-2', (route) =>
    isDown && route.request().method() === 'PUT' ? refuse(route) : route.fallback(),
  )
  await page.getByRole('checkbox', { name: 'Name is required' }).click()
  const failure = page.getByRole('alert').filter({ hasText: 'Something failed here. Repeat it.' })
  await failure.waitFor()
  await expect.poll(() => page.getByRole('checkbox', { name: 'Name is required' }).isChecked()).toBe(false)
  await expectAccessible(page)
  isDown = false
  await failure.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(async () => (await fieldsOf(client))[0]?.mandatory).toBe(true)
  await expect.poll(() => failure.count()).toBe(0)
})

test('a field that only an import can store is removed after a confirmation', async ({ open }) => {
  const page = await open('#/1001/forms/1')
  await choose(page, 'Actions for Image verification', 'Remove')
  const dialog = page.getByRole('dialog', { name: 'Remove Image verification?' })
  await dialog.getByText('cannot add this field again').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'Image verification' }).count()).toBe(0)
})
