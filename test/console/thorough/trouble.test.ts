import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { administer } from '../../support/administration.ts'
import { test } from '../support/console.ts'
import { refusal, reopenStream, row, signIn } from '../support/page.ts'

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

test('a view shows a failure beside its content, with a button to repeat the call', async ({ open }) => {
  const page = await open('#/1001/categories/1')
  await page.locator('tbody tr').first().waitFor()
  const rows = await page.locator('tbody tr').count()
  const refuse = refusal(500, 100500, 'The service has a fault. Repeat it later.')
  // The console also repeats failed calls itself. These calls fail until the button is used.
  const isUsed = () => page.evaluate(() => 'isUsed' in document.body.dataset)
  await page.route('**/categories/1/news?*', async (route) => ((await isUsed()) ? route.fallback() : refuse(route)))
  await page.getByRole('button', { name: 'Title' }).click()
  const failure = page.getByRole('alert').filter({ hasText: 'The service has a fault. Repeat it later.' })
  await failure.waitFor()
  expect(await page.locator('tbody tr').count()).toBe(rows)
  await page.evaluate(() => {
    document.addEventListener('click', () => document.body.toggleAttribute('data-is-used', true), { capture: true })
  })
  await failure.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => failure.count()).toBe(0)
})

test('reads that failed are repeated as soon as the service is back', async ({ open }) => {
  const page = await open('#/1001/forms')
  await heading(page, 'Forms').waitFor()
  let isAway = true
  const refuse = refusal(500, 100500, 'A fault.')
  await page.route('**/sites/**', (route) => (isAway ? refuse(route) : route.fallback()))
  await reopenStream(page)
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByRole('alert').filter({ hasText: 'A fault.' }).waitFor()
  await page.getByText('No connection to the service').waitFor()
  isAway = false
  await page.getByRole('grid').waitFor()
  await expect.poll(() => page.getByRole('alert').count()).toBe(0)
})

test('a view whose script did not load appears after the button is used', async ({ open }) => {
  const page = await open('#/1001/files')
  await page.getByRole('grid').waitFor()
  const scripts = '**/history-view-*.js'
  await page.route(scripts, (route) => route.abort())
  await page.getByRole('link', { name: 'History', exact: true }).click()
  const failure = page.getByRole('main').getByRole('alert')
  await failure.getByText('Check the network.').waitFor()
  await page.unroute(scripts)
  // Without a network, a reload would lose the page.
  await page.context().setOffline(true)
  const asked = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/console'))
  await failure.getByRole('button', { name: 'Try again' }).click()
  await asked
  await failure.getByText('Check the network.').waitFor()
  await page.context().setOffline(false)
  await failure.getByRole('button', { name: 'Try again' }).click()
  await page.getByLabel('Who', { exact: true }).waitFor()
})

test('after a new sign-in, the list has what others stored (K-6)', async ({ openFolder, client, folder, service }) => {
  const page = await openFolder(['a.txt'])
  await row(page, 'a.txt').waitFor()
  await page.route('**/api/**', (route) => route.fulfill({ status: 401, json: { code: 101000, message: 'Expired.' } }))
  await reopenStream(page)
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await client.files.put(`${folder}/b.txt`, 'b')
  for (let number = 1; number <= 10; number++) await client.files.put(`elsewhere/${folder}/${number}.txt`, '')
  await signIn(again, service.token)
  await row(page, 'b.txt').waitFor()
})

/** Names that can break a page. */
const script = '<script>window.hasRun = true</script>'
const hostile = [
  script,
  '"><img src=x onerror="window.hasRun = true">',
  'Tom & \'Jerry\' "quoted" {{7*7}} %3Cb%3E',
  'شركة \u202e.gnp 🎉👩‍👩‍👧',
  'W'.repeat(80),
]

test('names are shown literally, whatever they contain', async ({ open, service }) => {
  const named = hostile.flatMap((name, index) => [
    { kind: 'webForm', id: 100 + index, name },
    { kind: 'category', id: 100 + index, name },
    { kind: 'news', id: 100 + index, subject: name },
    { kind: 'link', type: 'news', categoryId: 100, objectId: 100 + index },
  ])
  const field = { kind: 'field', webFormId: 100, typeId: -2, name: hostile[1], mandatory: true, order: 1 }
  const records = [...named, field].map((record) => JSON.stringify(record)).join('\n')
  const { status, stdout } = await administer(service.directory, ['import', '-', '--site', '1001'], records)
  expect(status, stdout).toBe(0)

  const page = await open('#/1001/forms', { viewport: { width: 360, height: 740 } })
  const names = page.locator('.chooser-item bdi')
  await expect.poll(() => names.allTextContents()).toEqual(expect.arrayContaining(hostile))
  await page.getByRole('link', { name: script, exact: true }).click()
  await expect.poll(() => page.locator('.field-name bdi').first().textContent()).toBe(hostile[1])
  await page.getByRole('link', { name: 'Categories' }).click()
  await page.getByRole('link', { name: script, exact: true }).click()
  const titles = page.locator('.items-title bdi')
  await expect.poll(async () => (await titles.allTextContents()).toSorted()).toEqual(hostile.toSorted())
  const { width, hasRun } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    hasRun: 'hasRun' in window,
  }))
  expect({ width, hasRun }).toEqual({ width: 360, hasRun: false })
  await page.getByRole('button', { name: 'W'.repeat(80) }).click()
  const body = page.getByRole('dialog').locator('.dialog-body')
  await body.getByRole('checkbox').first().waitFor()
  expect(await body.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
})
