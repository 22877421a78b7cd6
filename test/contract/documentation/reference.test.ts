import type { Browser, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { launchBrowser } from '../../support/browser.ts'
import { test as base } from '../../support/test.ts'

interface Visit {
  readonly page: Page
  /** What the console and the page said that is wrong. */
  readonly faults: readonly string[]
  readonly requests: readonly string[]
}

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  .extend('browser', { scope: 'file' }, async ({}, { onCleanup }): Promise<Browser> => {
    const browser = await launchBrowser()
    onCleanup(() => browser.close())
    return browser
  })
  .extend('visit', async ({ browser }, { onCleanup }) => {
    const context = await browser.newContext()
    onCleanup(() => context.close())
    return async (url: string): Promise<Visit> => {
      const page = await context.newPage()
      const faults: string[] = []
      const requests: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
      })
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('request', (request) => requests.push(request.url()))
      await page.goto(url)
      await page.locator('.opblock').first().waitFor()
      return { page, faults, requests }
    }
  })

describe('the reference page in a browser', () => {
  test('shows every operation of the document', async ({ service, visit }) => {
    const { page, faults } = await visit(`${service.baseUrl}/docs`)
    const { paths } = JSON.parse(await (await service.request('/openapi.json')).text())
    const documented = Object.values<Record<string, { summary: string }>>(paths).flatMap((operations) =>
      Object.values(operations).map(({ summary }) => summary),
    )
    const shown = await page.locator('.opblock-summary-description').allTextContents()
    expect(shown.toSorted()).toEqual(documented.toSorted())
    expect(faults).toEqual([])
  })

  test.for(['/docs', '/docs/'])(
    'at %s asks nobody but the service, and lacks nothing',
    async (path, { service, visit }) => {
      const { requests, faults } = await visit(`${service.baseUrl}${path}`)
      expect(new Set(requests.filter((url) => !url.startsWith('data:')).map((url) => new URL(url).origin))).toEqual(
        new Set([service.baseUrl]),
      )
      expect(faults).toEqual([])
    },
  )

  test('unfolds an operation, and runs it', async ({ service, visit }) => {
    const { page, faults } = await visit(`${service.baseUrl}/docs`)
    const operation = page.locator('.opblock', { hasText: 'See whether the service answers' })
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()
    const answer = operation.locator('.live-responses-table .response-col_status').last()
    await answer.waitFor()
    expect(await answer.textContent()).toContain('200')
    expect(faults).toEqual([])
  })
})
