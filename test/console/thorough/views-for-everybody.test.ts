import type { Page } from 'playwright-core'
import { expectAccessible, test } from '../support/console.ts'
import { choose, refusal } from '../support/page.ts'

/** The states of the other views. Each has an address and the steps that lead to it. */
const looks: Readonly<Record<string, readonly [hash: string, show: (page: Page) => Promise<unknown>]>> = {
  'the fields of a form with an open menu': [
    'forms/1',
    async (page) => {
      await page.getByRole('button', { name: 'Actions for Name' }).click()
      await page.getByRole('menu').waitFor()
    },
  ],
  'the dialog that adds a field': [
    'forms/1',
    async (page) => {
      await page.getByRole('button', { name: 'Add a field' }).click()
      await page.getByRole('radio').first().click()
    },
  ],
  'the dialog that removes a field for good': [
    'forms/1',
    (page) => choose(page, 'Actions for Image verification', 'Remove'),
  ],
  'a refusal after a change by someone else': [
    'forms/1',
    async (page) => {
      await page.route('**/fields/system/-20', refusal(500, 100500, 'The service has a fault.'))
      await page.getByRole('checkbox', { name: 'Home phone is required' }).click()
      await page.getByRole('alert').waitFor()
    },
  ],
  'a category with selected objects': [
    'categories/1',
    (page) => page.locator('tbody').getByRole('checkbox').first().click(),
  ],
  'the dialog that links objects': [
    'categories/1',
    async (page) => {
      await page.getByRole('button', { name: 'Link news' }).click()
      await page.getByRole('dialog').locator('tbody tr').first().waitFor()
    },
  ],
  'an object with its categories': [
    'categories/1',
    async (page) => {
      await page.locator('.items-title').getByRole('button').first().click()
      await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
    },
  ],
  'a search without results': [
    'categories/1?q=nothing+like+it',
    (page) => page.getByText('No title matches.').waitFor(),
  ],
  'an entry of the history': ['history', (page) => page.locator('.change').first().click()],
  'a filter that matches nothing': [
    'history?where=nowhere',
    (page) => page.getByText('No changes match the filter.').waitFor(),
  ],
}

test.for(Object.entries(looks))('%s is accessible, in both themes', async ([, [hash, show]], { open }) => {
  const page = await open(`#/1001/${hash}`)
  await show(page)
  await expectAccessible(page)
})

test('the views fit on the screen of a phone, in German', async ({ open }) => {
  const page = await open('#/1001/forms/1', { viewport: { width: 360, height: 740 }, locale: 'de-DE', hasTouch: true })
  await page.getByRole('button', { name: 'Feld hinzufügen' }).waitFor()
  await expectAccessible(page)
  for (const name of ['Kategorien', 'Verlauf']) {
    await page.getByRole('navigation', { name: 'Ansichten' }).getByRole('link', { name }).click()
    await page
      .locator(name === 'Verlauf' ? '.change' : '.chooser-item')
      .first()
      .waitFor()
    await expectAccessible(page)
  }
})
