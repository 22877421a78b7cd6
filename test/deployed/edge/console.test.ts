import { expect, it, onTestFinished } from 'vitest'
import { launchBrowser } from '../../support/browser.ts'
import { deployment } from '../support/deployment.ts'

const { baseUrl, site, token } = deployment

it('behind the gateway, the console stores and shows a file', async () => {
  const browser = await launchBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ locale: 'en-GB' })
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted Type/i.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => request.url().startsWith(`${baseUrl}/`) || faults.push(request.url()))
  await page.goto(`${baseUrl}/console#token=${token}&/${site}/files`)
  await page.getByRole('button', { name: 'Upload', exact: true }).waitFor()
  const buffer = Buffer.from('It came through the gateway.')
  const file = { name: 'from the browser.txt', mimeType: 'text/plain', buffer }
  await page.locator('input[type=file]').first().setInputFiles([file])
  await page.getByRole('link', { name: file.name }).click()
  await page.getByText('It came through the gateway.').waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  const changes = page.locator('.change')
  await changes.first().waitFor()
  // The history shows this file in one line with the files that were stored shortly before.
  const closed = changes.and(page.locator('[aria-expanded="false"]'))
  while ((await closed.count()) > 0) await closed.first().click()
  await changes.filter({ hasText: file.name }).first().waitFor()
  expect(faults).toEqual([])
})
