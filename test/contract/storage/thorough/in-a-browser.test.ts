import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { formsOf, type HostileForm, openForm } from '../../../support/hostile-documents.ts'
import { test as base } from '../../../support/test.ts'

/** Another origin with pages of its own. It records every other request. */
interface Elsewhere {
  readonly url: string
  /** Requests with their headers. */
  readonly seen: readonly string[]
  /** Resolves after a request whose path begins with `path`. */
  asked(path: string): Promise<void>
  serve(path: string, type: string, body: string | Buffer): void
}

const openElsewhere = async (): Promise<Elsewhere & { close(): void }> => {
  const pages = new Map<string, { readonly type: string; readonly body: string | Buffer }>()
  const seen: string[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const page = pages.get(request.url ?? '')
    if (!page) seen.push(`${request.method} ${request.url} ${JSON.stringify(request.rawHeaders)}`)
    for (const look of waiting) look()
    response.writeHead(page ? 200 : 404, { 'Content-Type': page?.type ?? 'text/plain' }).end(page?.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    url,
    seen,
    asked: (path) =>
      new Promise((resolve) => {
        const look = () => {
          if (seen.some((line) => line.split(' ')[1]?.startsWith(path)) && waiting.delete(look)) resolve()
        }
        waiting.add(look)
        look()
      }),
    serve: (path, type, body) => void pages.set(path, { type, body }),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const test = base
  .extend('elsewhere', async ({}, { onCleanup }): Promise<Elsewhere> => {
    const opened = await openElsewhere()
    onCleanup(() => opened.close())
    return opened
  })
  .extend('openPage', async ({ browser }, { onCleanup }) => {
    const context = await browser.newContext()
    onCleanup(() => context.close())
    return (): Promise<Page> => context.newPage()
  })
  .extend('storage', async ({ service }) => ({
    at: (path: string) => `${service.baseUrl}/api/v2/admin/sites/current/storage/${path}`,
    put: async (path: string, body: string | Buffer) => {
      const headers = { 'Content-Type': 'application/octet-stream' }
      const target = `/api/v2/admin/sites/current/storage/${path}`
      expect(
        (await service.request(target, { method: 'PUT', headers, body: new Uint8Array(Buffer.from(body)) })).status,
      ).toBe(200)
    },
  }))

/** The `Accept` of a browser, and an `Accept` that names each type of the documents. */
const accepts = {
  'with the Accept of a browser': undefined,
  'under its own type': Object.values(formsOf)
    .map(({ type }) => type)
    .join(', '),
}

describe('A stored document that is opened with the token in its address', () => {
  const cases = Object.entries(accepts).flatMap(([name, accept]) =>
    Object.keys(formsOf).map((form) => ({ form: form as HostileForm, name, accept })),
  )

  test.for(cases)(
    'The document sends no data and runs no script: $form, $name',
    async ({ form, accept }, { service, storage, elsewhere, openPage }) => {
      const { type, isShown } = formsOf[form]
      await storage.put(`hostile.${form}`, openForm(form, `${elsewhere.url}/stored`))
      const page = await openPage()
      if (accept !== undefined) {
        await page.route('**', (route) => route.continue({ headers: { ...route.request().headers(), accept } }))
      }
      const arrived = page.waitForResponse((response) => response.url().includes(`hostile.${form}`))
      // A download ends the navigation.
      await page.goto(`${storage.at(`hostile.${form}`)}?access_token=${service.token}`).catch(() => {})
      const headers = (await arrived).headers()
      expect(headers['content-security-policy']).toBe("sandbox; default-src 'none'; style-src 'unsafe-inline'")
      if (accept !== undefined) expect(headers['content-type']).toBe(type)
      expect(await page.evaluate(`document.documentElement?.getAttribute('data-ran')`)).toBeFalsy()

      // The same document without a sandbox, for comparison: once its requests have arrived, those of the sandboxed
      // document would have arrived, too.
      elsewhere.serve(`/free.${form}`, type, openForm(form, `${elsewhere.url}/free`))
      elsewhere.serve('/fence', 'text/html', `<meta http-equiv="refresh" content="0;url=/free/fence">`)
      const free = await openPage()
      await free.goto(`${elsewhere.url}/${isShown ? `free.${form}` : 'fence'}`).catch(() => {})
      await elsewhere.asked('/free/')
      expect(elsewhere.seen.filter((line) => !line.includes('/free'))).toEqual([])
      expect(elsewhere.seen.join()).not.toContain(service.token)
    },
  )

  test('A link in the document does not reveal the address of the document', async ({
    service,
    storage,
    elsewhere,
    openPage,
  }) => {
    const link = `<meta name="referrer" content="unsafe-url"><a href="${elsewhere.url}/followed">on</a>`
    await storage.put('link.html', link)
    const page = await openPage()
    await page.goto(`${storage.at('link.html')}?access_token=${service.token}`)
    await page.locator('a').click({ noWaitAfter: true })
    await elsewhere.asked('/followed')
    expect(elsewhere.seen.join()).not.toContain(service.token)
  })
})
