import { randomUUID } from 'node:crypto'
import axe, { type AxeResults } from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { connect, type SiteClient } from '../../../client/src/index.ts'
import { test as base } from '../../support/test.ts'

export interface OpenOptions extends BrowserContextOptions {
  /** The token of the tab. Default: the demo token. */
  readonly token?: string | null
  /** The address of a service other than the service of the tests. */
  readonly baseUrl?: string
  /** Another address that the page may visit. */
  readonly other?: string
}

/** Records policy violations, script errors, and requests to other hosts. The end of the test reports them. */
const recordFaults = (page: Page, allowed: readonly string[]): readonly string[] => {
  const faults: string[] = []
  page.on('pageerror', (error) => {
    // A busy browser reports that it calls a ResizeObserver only in the next frame. Nothing is lost.
    if (!error.message.startsWith('ResizeObserver loop')) faults.push(error.stack || String(error))
  })
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted Type/i.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = request.url()
    if (![...allowed.map((address) => `${address}/`), 'blob:'].some((start) => url.startsWith(start)))
      faults.push(`A request to ${url}`)
  })
  return faults
}

/**
 * Tests of the console in a browser, with one service for all tests of a file. `open` returns a signed-in page, and
 * `folder` is a folder of this test. `openFolder` opens that folder after it has stored files with the given names,
 * whose contents are their names.
 */
export const test = base
  .extend(
    'client',
    { scope: 'file' },
    ({ service }): Promise<SiteClient> => connect({ url: service.baseUrl, token: service.token }),
  )
  .extend('folder', async ({ client }) => {
    const folder = `folder-${randomUUID().slice(0, 8)}`
    await client.files.createFolder(folder)
    return folder
  })
  .extend('open', async ({ browser, service, task }, { onCleanup }) => {
    const opened: { readonly page: Page; readonly faults: readonly string[]; readonly requests: readonly string[] }[] =
      []
    onCleanup(async () => {
      const isFailed = task.result?.state === 'fail'
      const found = opened.map(async ({ page, faults, requests }) => {
        // The reason of a failure is often in what the page showed.
        const shown = isFailed ? [page.url(), await page.locator('body').innerText(), ...requests.slice(-40)] : []
        await page.context().close()
        return [...shown, ...faults]
      })
      expect((await Promise.all(found)).flat()).toEqual([])
    })
    return async (
      hash = '',
      { token = service.token, baseUrl = service.baseUrl, other = baseUrl, ...options }: OpenOptions = {},
    ): Promise<Page> => {
      const usual: OpenOptions = { locale: 'en-GB', reducedMotion: 'reduce', permissions: ['clipboard-write'] }
      const context = await browser.newContext({ ...usual, ...options })
      context.setDefaultTimeout(25_000)
      const page = await context.newPage()
      const requests: string[] = []
      page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`))
      page.on('response', (response) => requests.push(`${response.status()} ${response.url()}`))
      opened.push({ page, faults: recordFaults(page, [baseUrl, other]), requests })
      await page.addInitScript((given) => {
        // The token is set once, so a token that the page stores later remains. Frames have no storage.
        if (given === null || parent !== window || sessionStorage.getItem('signed-in-by-test')) return
        sessionStorage.setItem('signed-in-by-test', 'true')
        sessionStorage.setItem('site-admin-token', given)
      }, token)
      await page.goto(`${baseUrl}/console${hash}`)
      return page
    }
  })
  .extend(
    'openFolder',
    async ({ client, folder, open }) =>
      async (names: readonly string[] = [], options?: OpenOptions) => {
        await Promise.all(names.map((name) => client.files.put(`${folder}/${name}`, name)))
        return open(`#/1001/files/${folder}`, options)
      },
  )

const rulesOf = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  dark: ['color-contrast', 'link-in-text-block'],
}

/** Checks the page against WCAG 2.2 AA, in both themes. The themes differ only in their colours. */
export const expectAccessible = async (page: Page): Promise<void> => {
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // Axe runs only in the page itself: a frame of the console runs no script.
    const options = JSON.stringify({ runOnly: rulesOf[colorScheme], resultTypes: ['violations'] })
    const { violations } = await page.evaluate<AxeResults>(`axe.run({ exclude: ['iframe'] }, ${options})`)
    const found = violations.map(
      ({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map(({ html }) => html).join('\n')}`,
    )
    expect(found).toEqual([])
  }
}
