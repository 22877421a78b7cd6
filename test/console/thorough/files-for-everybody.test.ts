import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, test } from '../support/console.ts'
import { grid, press, refusal, signIn, widthOf } from '../support/page.ts'

const chooseFile = (page: Page, name: string) =>
  page
    .locator('.bar input[type=file]')
    .first()
    .setInputFiles([{ name, mimeType: 'text/html', buffer: Buffer.from('x') }])
const chooseAll = async (page: Page) => {
  await grid(page).focus()
  await press(page, 'Control+a')
}

/** The states of the files view, each with the steps that lead to it. */
const looks: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'the list beside the details of a file': async (page) => {
    await page.getByRole('link', { name: 'page.html' }).click()
    await page.getByText('<p>second</p>').waitFor()
    await page.getByRole('button', { name: /^Restore the version/ }).waitFor()
  },
  'the bar for selected files with a menu': async (page) => {
    await chooseAll(page)
    await page.getByRole('button', { name: 'More actions', exact: true }).click()
    await page.getByRole('menu').waitFor()
  },
  'the dialog for a new folder': (page) => page.getByRole('button', { name: 'New folder' }).click(),
  'the dialog for moving with a refusal': async (page) => {
    await chooseAll(page)
    await page.getByRole('button', { name: 'Move to' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'sub' }).waitFor({ state: 'detached' })
  },
  'the dialog for deleting': async (page) => {
    await chooseAll(page)
    await press(page, 'Delete')
    await page.getByText('This deletes').waitFor()
  },
  'the list of shortcuts': async (page) => {
    await press(page, '?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  },
  'the grid': async (page) => {
    await page.getByRole('button', { name: 'Show as a grid' }).click()
    await chooseAll(page)
    await page.getByRole('gridcell', { name: 'page.html' }).waitFor()
  },
  'the zip of a folder': async (page) => {
    await chooseAll(page)
    await page.getByRole('button', { name: 'Download as zip' }).click()
    await page.getByText('in all.').waitFor()
  },
  'a page beside its source': async (page) => {
    await page.getByRole('link', { name: 'page.html' }).click()
    await page.getByRole('button', { name: 'Show and edit' }).click()
    await page.frameLocator('iframe').frameLocator('iframe').getByText('second').waitFor()
  },
  'two versions of a text, and a question': async (page) => {
    await page.getByRole('link', { name: 'page.html' }).click()
    await page.getByRole('button', { name: 'Show and edit' }).click()
    await page.getByLabel('Source').fill('mine')
    const refuse = refusal(412, 100412, 'Changed.')
    // The preview may still read the page.
    await page.route('**/page.html', (route) => (route.request().method() === 'PUT' ? refuse(route) : route.fallback()))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Someone else has saved').waitFor()
    await press(page, 'Escape')
    await page.getByText('Your changes are not saved.').waitFor()
  },
  'an upload with a question': async (page) => {
    await chooseFile(page, 'page.html')
    await page.getByText('page.html already exists in').waitFor()
  },
  'a failure beside completed uploads': async (page) => {
    await chooseFile(page, `new-${Date.now()}.html`)
    await page.getByText('1 of 1 done').waitFor()
    await page.evaluate(() => {
      location.hash += '/missing'
    })
    await page.getByRole('alert').waitFor()
  },
}

test.for(Object.entries(looks))(
  '%s is accessible, in both themes (K-17)',
  async ([, show], { openFolder, client, folder, service }) => {
    const { files } = client
    await files.put(`${folder}/page.html`, '<p>first</p>')
    await files.put(`${folder}/page.html`, '<p>second</p>', { replace: true })
    const draft = `/api/v2/admin/sites/1001/storage/${folder}/page.html?version=draft`
    await service.request(draft, { method: 'PUT', body: 'd' })
    const page = await openFolder(['sub/a.txt'])
    await page.getByRole('link', { name: 'page.html' }).waitFor()
    await show(page)
    await expectAccessible(page)
  },
)

test('the sign-in page is accessible in both themes, also after a failure', async ({ open }) => {
  const page = await open('', { token: null })
  await signIn(page, 'wrong')
  expect(await page.getByRole('alert').textContent()).toMatch(/token/i)
  expect(await page.getByLabel('Access token').getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page)
})

test('at 400 % zoom, the rows of lists and the items of menus are visible', async ({ openFolder }) => {
  const page = await openFolder(['a.txt'], { viewport: { width: 320, height: 256 } })
  await page.getByRole('link', { name: 'a.txt' }).waitFor()
  const heightOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((shown) => shown.clientHeight)
  expect(await heightOf('.grid .rows')).toBeGreaterThan(100)
  expect(await page.locator('.top').evaluate((top) => top.scrollHeight - top.clientHeight)).toBe(0)
  expect(await widthOf(page)).toBeLessThanOrEqual(320)
  await page.getByRole('button', { name: 'Settings' }).press('Enter')
  expect(await heightOf('.menu')).toBeLessThanOrEqual(256)
  await page.keyboard.press('End')
  const last = await page.getByRole('menuitem', { name: 'Sign out' }).boundingBox()
  expect((last?.y ?? 999) + (last?.height ?? 0)).toBeLessThanOrEqual(256)
})

test('on the width of a phone, no German text is cut off', async ({ openFolder }) => {
  const name = `${'a long name of a file '.repeat(8)}.txt`
  const page = await openFolder([name], { viewport: { width: 320, height: 640 }, locale: 'de-DE' })
  await page.getByRole('button', { name: 'Hochladen', exact: true }).waitFor()
  expect((await page.getByRole('combobox').boundingBox())?.width).toBeGreaterThan(80)
  await page.getByRole('checkbox').last().check()
  expect(await widthOf(page)).toBeLessThanOrEqual(320)
  await page.getByRole('checkbox').last().uncheck()
  await page.getByRole('button', { name: 'Als Raster zeigen' }).click()
  await page.getByRole('gridcell').waitFor()
  expect(await widthOf(page)).toBeLessThanOrEqual(320)
  await page.getByRole('gridcell').getByRole('link').click()
  await page.getByRole('button', { name: 'Bearbeiten' }).click()
  await page.getByLabel('Quelltext').waitFor()
  expect(await widthOf(page)).toBeLessThanOrEqual(320)
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('de')
  await expectAccessible(page)
})
