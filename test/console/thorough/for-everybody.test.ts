import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { administerJson } from '../../support/administration.ts'
import { expectAccessible, test } from '../support/console.ts'
import { press, signIn, widthOf } from '../support/page.ts'

test('the sign-in page is accessible in both themes, also after a failure (K-17)', async ({ open }) => {
  const page = await open('', { token: null })
  await signIn(page, 'wrong')
  expect(await page.getByRole('alert').textContent()).toMatch(/token/i)
  expect(await page.getByLabel('Access token').getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page)
})

test('the keyboard scrolls long trees, lists and grids and keeps rows visible (K-17)', async ({
  openFolder,
  folder,
}) => {
  const page = await openFolder(Array.from({ length: 60 }, (_, index) => `folder ${index}/a.txt`))
  const [tree, list] = [page.getByRole('tree'), page.getByRole('grid')]
  const isVisible = (shown: Locator) =>
    shown.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect()
      return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
    })
  const expectVisible = (shown: Locator) => expect.poll(() => isVisible(shown)).toBe(true)
  const expectKeysToScroll = async () => {
    await list.press('End')
    await expectVisible(list.getByRole('link', { name: 'folder 59' }))
    await press(page, ...Array.from({ length: 30 }, () => 'ArrowUp'))
    await expectVisible(list.locator('.is-active'))
    await press(page, 'Escape')
  }

  await tree.getByRole('treeitem', { name: folder }).waitFor()
  await tree.press('ArrowRight')
  await tree.getByRole('treeitem', { name: 'folder 0', exact: true }).waitFor()
  await press(page, 'End')
  await expect.poll(() => tree.getAttribute('aria-activedescendant')).toMatch(/^tree-6/)
  await expectVisible(tree.locator('.is-active'))
  await expectAccessible(page)
  await expectKeysToScroll()
  await page.getByRole('button', { name: 'Show as a grid' }).press('Enter')
  await expectAccessible(page)
  await expectKeysToScroll()
  await page.getByRole('button', { name: 'Show as a list' }).press('Enter')
  // The toolbar grows with the selection.
  await page.setViewportSize({ width: 320, height: 568 })
  await expectKeysToScroll()
  await page.setViewportSize({ width: 320, height: 256 })
  await expect.poll(() => list.getByRole('row').count()).toBeLessThan(40)
})

test('at 400 % zoom, the rows of lists and the items of menus are visible', async ({ openFolder }) => {
  const page = await openFolder(['a.txt'], { viewport: { width: 320, height: 256 } })
  await page.getByRole('link', { name: 'a.txt' }).waitFor()
  const heightOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((shown) => shown.clientHeight)
  expect(await heightOf('.grid')).toBeGreaterThan(100)
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

test('all six views fit beside the name of the site, or below it, in German', async ({ open, service }) => {
  const rights = ['files', 'forms', 'categories', 'history', 'access'].flatMap((area) => ['--right', `${area}:write`])
  const issuing = ['token', 'issue', '--user', 'ann', '--site', '1001', ...rights]
  const { token } = await administerJson(service.directory, issuing)
  const page = await open('#/1001/forms', { token, locale: 'de-DE' })
  await page.getByRole('navigation', { name: 'Ansichten' }).getByRole('link', { name: 'Zugriff' }).waitFor()
  for (const width of [320, 360, 640, 768, 900, 901]) {
    await page.setViewportSize({ width, height: 740 })
    expect(await widthOf(page)).toBe(width)
  }
})

test('lists stay legible with text of twice the size', async ({ openFolder }) => {
  const page = await openFolder(Array.from({ length: 60 }, (_, index) => `file ${index}.txt`))
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  const heights = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().height)))
  await expect.poll(async () => new Set(await heights('.row:not(.row-head)'))).toEqual(new Set([72]))
  await page.getByRole('grid').press('End')
  const last = page.getByRole('link', { name: 'file 59.txt' })
  await last.waitFor()
  const [top, ...others] = await page
    .locator('.row:not(.row-head)')
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top).toSorted((a, b) => a - b))
  expect(others.map((each, index) => Math.round(each - (top ?? 0)) - 72 * (index + 1))).toEqual(others.map(() => 0))
  expect(await heights('.rows-all')).toContain(60 * 72)
  await page.getByRole('grid').press('Escape')
  await page.getByRole('combobox').fill('file')
  await page.getByRole('option').first().waitFor()
  expect(await heights('.found-row')).toContain(88)
  expect(Math.max(...(await heights('.lines')))).toBeLessThanOrEqual(88)
})

test('a name in Hebrew begins beside its icon, and the spaces of a name are visible', async ({ openFolder }) => {
  const page = await openFolder(['דוח.txt', 'a b', 'a  b'])
  const names = page.locator('.cell-name bdi').filter({ hasText: /^a/ })
  await expect.poll(() => names.count()).toBe(2)
  const [one, two] = await names.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width))
  expect(one).not.toBe(two)
  await page.getByRole('combobox').fill('.txt')
  const name = page.getByRole('option').locator('bdi').first()
  await name.waitFor()
  const gap = await name.evaluate((shown) => {
    const text = document.createRange()
    text.selectNodeContents(shown)
    return (
      text.getBoundingClientRect().left -
      (shown.closest('.row')?.querySelector('svg')?.getBoundingClientRect().right ?? 0)
    )
  })
  expect(gap).toBeLessThan(20)
})
