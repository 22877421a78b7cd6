import { randomUUID } from 'node:crypto'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { connect, type SiteClient } from '../../../client/src/index.ts'
import { test as base } from '../../support/test.ts'

export interface OpenOptions extends BrowserContextOptions {
  /** The token of the tab. Default: the demo token. */
  readonly token?: string | null
  /** The address of a service other than the service of the tests. */
  readonly baseUrl?: string
  /** Another address that the page may visit. */
  readonly issuer?: string
}

/** Records policy violations, script errors, and requests to other hosts. The end of the test reports them. */
const recordFaults = (page: Page, allowed: readonly string[]): readonly string[] => {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error.stack ?? error)))
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

/** Records the last requests, each with its status. A request without an answer still runs, or has failed. */
const recordRequests = (page: Page): readonly string[] => {
  const lines: string[] = []
  page.on('request', (request) => {
    const line = lines.push(`${request.method()} ${request.url()}`) - 1
    request.response().then(
      (response) => {
        lines[line] += `: ${response?.status() ?? request.failure()?.errorText}`
      },
      () => {},
    )
  })
  return lines
}

const openPage = async (
  browser: Browser,
  hash: string,
  token: string | null,
  baseUrl: string,
  { issuer = baseUrl, ...options }: OpenOptions,
) => {
  const usual: OpenOptions = { locale: 'en-GB', reducedMotion: 'reduce', permissions: ['clipboard-write'] }
  const context = await browser.newContext({ ...usual, ...options })
  context.setDefaultTimeout(25_000)
  const page = await context.newPage()
  const faults = recordFaults(page, [baseUrl, issuer])
  const requests = recordRequests(page)
  if (token !== null) {
    await page.addInitScript((given) => {
      // The token is set once, so a token that the page stores later remains. Frames have no storage.
      if (parent !== window || sessionStorage.getItem('signed-in-by-test')) return
      sessionStorage.setItem('signed-in-by-test', 'true')
      sessionStorage.setItem('site-admin-token', given)
    }, token)
  }
  await page.goto(`${baseUrl}/console${hash}`)
  const describe = async () =>
    [`${page.url()} showed:`, await page.locator('body').innerText(), 'Requests:', ...requests.slice(-20)].join('\n')
  return { page, faults, describe, close: () => context.close() }
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
    const opened: Awaited<ReturnType<typeof openPage>>[] = []
    onCleanup(async () => {
      // The reason of a failure is often in what the page showed.
      const shown = task.result?.state === 'fail' ? await Promise.all(opened.map(({ describe }) => describe())) : []
      await Promise.all(opened.map(({ close }) => close()))
      expect([...shown, ...opened.flatMap(({ faults }) => faults)]).toEqual([])
    })
    return async (
      hash = '',
      { token = service.token, baseUrl = service.baseUrl, ...options }: OpenOptions = {},
    ): Promise<Page> => {
      const page = await openPage(browser, hash, token, baseUrl, options)
      opened.push(page)
      return page.page
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
