import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { type HostileForm, openForm, typesOfForms } from '../../../support/hostile-documents.ts'
import { closeAtOnce, listen } from '../../../support/listen.ts'
import { test as base } from '../../../support/test.ts'

const jquery = readFileSync(fileURLToPath(import.meta.resolve('jquery/dist/jquery.min.js')))

/** Another origin with pages of its own. It records every other request with its headers. */
const openElsewhere = async () => {
  const pages = new Map<string, { readonly type: string; readonly body: string | Buffer }>()
  const seen: string[] = []
  const server = createServer((request, response) => {
    const page = pages.get(request.url ?? '')
    if (!page) seen.push(`${request.method} ${request.url} ${JSON.stringify(request.rawHeaders)}`)
    response.writeHead(page ? 200 : 404, { 'Content-Type': page?.type ?? 'text/plain' }).end(page?.body)
  })
  const url = (await listen(server)).replace('127.0.0.1', 'localhost')
  return {
    url,
    seen,
    /** Resolves after a request whose path begins with `path`. */
    asked: (path: string) => expect.poll(() => seen.some((line) => line.split(' ')[1]?.startsWith(path))).toBe(true),
    serve: (path: string, type: string, body: string | Buffer) => void pages.set(path, { type, body }),
    close: () => closeAtOnce(server),
  }
}

type Elsewhere = Awaited<ReturnType<typeof openElsewhere>>

const test = base
  .extend('elsewhere', async ({}, { onCleanup }) => {
    const opened = await openElsewhere()
    onCleanup(opened.close)
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
  'under its own type': Object.values(typesOfForms).join(', '),
}

describe('A stored document that is opened with the token in its address', () => {
  const cases = Object.entries(accepts).flatMap(([name, accept]) =>
    Object.keys(typesOfForms).map((form) => ({ form: form as HostileForm, name, accept })),
  )

  test.for(cases)(
    'The document sends no data and runs no script: $form, $name',
    async ({ form, accept }, { service, storage, elsewhere, openPage }) => {
      const type = typesOfForms[form]
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
      const free = await openPage()
      await free.goto(`${elsewhere.url}/free.${form}`).catch(() => {})
      await elsewhere.asked('/free/')
      expect(elsewhere.seen.filter((line) => !line.includes('/free'))).toEqual([])
      expect(elsewhere.seen.join()).not.toContain(service.token)
    },
  )

  test('A link in the document keeps its address secret', async ({ service, storage, elsewhere, openPage }) => {
    const link = `<meta name="referrer" content="unsafe-url"><a href="${elsewhere.url}/followed">on</a>`
    await storage.put('link.html', link)
    const page = await openPage()
    await page.goto(`${storage.at('link.html')}?access_token=${service.token}`)
    await page.locator('a').click({ noWaitAfter: true })
    await elsewhere.asked('/followed')
    expect(elsewhere.seen.join()).not.toContain(service.token)
  })
})

interface Given {
  readonly data: unknown
  readonly type: string
}

const contents = {
  json: '{"menu": [1, 2]}',
  js: 'window.ran = true; "text"',
  xml: '<?xml version="1.0"?><menu><item/></menu>',
  html: '<p>text</p><script>window.ran = true</script>',
}

describe('A page of another origin that reads with jQuery 1.11', () => {
  /** A page with jQuery, and the results of its `$.ajax`. */
  const openClient = async (elsewhere: Elsewhere, openPage: () => Promise<Page>, token: string) => {
    elsewhere.serve('/jquery.js', 'text/javascript', jquery)
    elsewhere.serve('/client', 'text/html', '<!doctype html><title>client</title><script src="/jquery.js"></script>')
    const page = await openPage()
    await page.goto(`${elsewhere.url}/client`)
    const ajax = (url: string, options: object = {}) => {
      const given = JSON.stringify({ headers: { Authorization: token }, ...options })
      return page.evaluate<Given>(
        `$.ajax(${JSON.stringify(url)}, ${given}).then((data) => ({ data, type: typeof data }))`,
      )
    }
    return { ajax, ran: () => page.evaluate<boolean>(`'ran' in window`) }
  }

  test.for(Object.entries(contents))(
    'A page reads text: %s',
    async ([extension, text], { service, storage, elsewhere, openPage }) => {
      const path = `/_System/Apps/client/file.${extension}`
      await storage.put(path, text)
      const { ajax, ran } = await openClient(elsewhere, openPage, service.token)
      expect(await ajax(storage.at(path))).toEqual({ data: text, type: 'string' })
      expect(await ajax(storage.at(`/_System/apps/client//File.${extension}`))).toEqual({ data: text, type: 'string' })
      const inQuery = `${storage.at(path)}?access_token=${service.token}`
      expect(await ajax(inQuery, { headers: {} })).toEqual({ data: text, type: 'string' })
      expect(await ran()).toBe(false)
    },
  )

  test('A page reads text although it cached JSON', async ({ service, storage, elsewhere, openPage }) => {
    await storage.put('cached.json', contents.json)
    const { ajax } = await openClient(elsewhere, openPage, service.token)
    const url = storage.at('cached.json')
    for (const _ of ['first', 'from the cache']) {
      expect(await ajax(url, { dataType: 'json' })).toEqual({ data: JSON.parse(contents.json), type: 'object' })
      expect(await ajax(url)).toEqual({ data: contents.json, type: 'string' })
      expect(await ajax(url)).toEqual({ data: contents.json, type: 'string' })
    }
  })
})
