import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { storage } from '../../support/paths.ts'
import { test as base } from '../../support/test.ts'

interface Visit {
  readonly page: Page
  /** Errors of the page and warnings of its console. */
  readonly faults: readonly string[]
  readonly requests: readonly string[]
}

const test = base.extend('visit', async ({ browser }, { onCleanup }) => {
  const context = await browser.newContext()
  onCleanup(() => context.close())
  return async (url: string, prepare?: (page: Page) => Promise<unknown>): Promise<Visit> => {
    const page = await context.newPage()
    await prepare?.(page)
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

/** By id: operations that the service must refuse, because of the values that the page sends. */
const refused = {
  // The page knows no path that this operation could delete.
  deleteRoot: 400,
  // A person has to choose the files first.
  uploadToFolder: 400,
  uploadToRoot: 400,
  putRoot: 400,
  // These operations need an open upload, and a choice of the next bytes.
  describeUpload: 404,
  readUpload: 404,
  appendToUpload: 404,
  cancelUpload: 404,
}

const authorize = async (page: Page, token: string) => {
  await page.locator('.btn.authorize').first().click()
  const dialog = page.locator('.dialog-ux')
  await dialog.locator('input').first().fill(token)
  await dialog.getByRole('button', { name: 'Apply credentials' }).first().click()
  await dialog.getByRole('button', { name: 'Close' }).first().click()
}

/** Opens the form of an operation, by its id. Clicks are dispatched without moving the mouse, to save time. */
const unfold = async (page: Page, id: string): Promise<Locator> => {
  const operation = page.locator(`.opblock[id$="-${id}"]`)
  await operation.locator('.opblock-summary-control').dispatchEvent('click')
  await operation.getByRole('button', { name: 'Try it out' }).dispatchEvent('click')
  return operation
}

/** Runs in the page to save time: opens each operation, and executes it. Returns the statuses by id. */
const executeAll = `(async () => {
  const until = async (find) => {
    for (;;) {
      const found = find()
      if (found) return found
      await new Promise((done) => setTimeout(done, 5))
    }
  }
  const statuses = {}
  for (const operation of document.querySelectorAll('.opblock')) {
    const one = (selector) => until(() => operation.querySelector(selector))
    const control = operation.querySelector('.opblock-summary-control')
    control.click()
    ;(await one('.try-out__btn')).click()
    ;(await one('.execute')).click()
    const status = await one('.live-responses-table tbody .response-col_status')
    statuses[operation.id.split('-').at(-1)] = parseInt(status.textContent, 10)
    control.click()
  }
  return statuses
})()`

interface OpenApi {
  readonly components: Readonly<Record<string, unknown>>
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>>
}

/** The page with the operations of one tag. Drawing the schemas of answers would take most of the time. */
const showing =
  (tag: string) =>
  (page: Page): Promise<unknown> =>
    page.route('**/openapi.json', async (route) => {
      const response = await route.fetch()
      const { paths, components, ...document }: OpenApi = await response.json()
      const shown = Object.entries(paths).map(([path, operations]) => {
        const some = Object.entries(operations).filter(([, { tags }]) => tags.includes(tag))
        const answers = { default: { description: 'Any.' } }
        return [
          path,
          Object.fromEntries(some.map(([method, operation]) => [method, { ...operation, responses: answers }])),
        ]
      })
      const { responses: _, ...used } = components
      await route.fulfill({ response, json: { ...document, components: used, paths: Object.fromEntries(shown) } })
    })

/** Clicks the button. Returns the status of the answer. */
const execute = async (operation: Locator): Promise<number> => {
  await operation.getByRole('button', { name: 'Execute' }).dispatchEvent('click')
  const answer = operation.locator('.live-responses-table tbody .response-col_status').first()
  await answer.waitFor()
  return Number.parseInt((await answer.textContent()) ?? '', 10)
}

const originsIn = (requests: readonly string[]) =>
  new Set(requests.filter((url) => !url.startsWith('data:')).map((url) => new URL(url).origin))

test('the page shows every operation of the document, and loads only own files', async ({ service, visit }) => {
  const { page, requests, faults } = await visit(`${service.baseUrl}/docs`)
  const { paths } = JSON.parse(await (await service.request('/openapi.json')).text())
  const documented = Object.values<Record<string, { summary: string }>>(paths).flatMap((operations) =>
    Object.values(operations).map(({ summary }) => summary),
  )
  const shown = await page.locator('.opblock-summary-description').allTextContents()
  expect(shown.toSorted()).toEqual(documented.toSorted())
  const other = await visit(`${service.baseUrl}/docs/`, showing('Web forms'))
  expect(originsIn([...requests, ...other.requests])).toEqual(new Set([service.baseUrl]))
  expect([...faults, ...other.faults]).toEqual([])
})

test('the page keeps the token for the tab only', async ({ service, visit }) => {
  const { page, faults } = await visit(`${service.baseUrl}/docs`, showing('Web forms'))
  await authorize(page, service.token)
  await page.reload()
  const lists = await unfold(page, 'listSites')
  expect(await execute(lists)).toBe(200)
  expect(await page.evaluate('localStorage.length')).toBe(0)
  const { page: other } = await visit(`${service.baseUrl}/docs`, showing('Web forms'))
  expect(await execute(await unfold(other, 'listSites'))).toBe(401)
  expect(faults.filter((fault) => !fault.includes('401'))).toEqual([])
})

test('the page runs each operation with its examples, without optional parameters', async ({ service, visit }) => {
  const document: OpenApi = JSON.parse(await (await service.request('/openapi.json')).text())
  const statuses: Record<string, number> = {}
  const queries: string[] = []
  // Operations on access would revoke the token of the page. This token has no right to webhooks.
  const tags = document.tags.map(({ name }) => name).filter((name) => !['Access', 'Webhooks'].includes(name))
  for (const name of tags) {
    const { page, requests } = await visit(`${service.baseUrl}/docs`, showing(name))
    await authorize(page, service.token)
    const before = requests.length
    Object.assign(statuses, await page.evaluate(executeAll))
    queries.push(...requests.slice(before).flatMap((url) => (url.startsWith('http') ? new URL(url).search : [])))
  }
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).filter((operation) => operation.tags.some((name) => tags.includes(name))),
  )
  expect(Object.keys(statuses)).toHaveLength(operations.length)
  expect(Object.fromEntries(Object.entries(statuses).filter(([, status]) => status >= 400))).toEqual(refused)
  expect(queries.filter((query) => query !== '')).toEqual(['?meta='])
}, 120_000)

test('the page uploads the file that a person chooses', async ({ service, visit }) => {
  const { page } = await visit(`${service.baseUrl}/docs`, showing('Files'))
  await authorize(page, service.token)
  const operation = await unfold(page, 'uploadToFolder')
  const chosen = { name: 'chosen.txt', mimeType: 'text/plain', buffer: Buffer.from('chosen') }
  await operation.locator('input[type=file]').first().setInputFiles(chosen)
  expect(await execute(operation)).toBe(200)
  expect(await (await service.request(`${storage}/notes/chosen.txt`)).text()).toBe('chosen')
})

test('the page sends a query parameter that has no value', async ({ service, visit }) => {
  const { page, requests } = await visit(`${service.baseUrl}/docs`, showing('Files'))
  await authorize(page, service.token)
  const operation = await unfold(page, 'readRoot')
  await operation.locator('tr[data-param-name=status] input[type=checkbox]').check()
  await operation.locator('tr[data-param-name=meta] input[type=checkbox]').uncheck()
  expect(await execute(operation)).toBe(200)
  expect(new URL(requests.at(-1) ?? '').search).toBe('?status=')
  expect(await operation.locator('.live-responses-table .highlight-code').first().textContent()).toContain('percent')
})
