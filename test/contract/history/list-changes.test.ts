import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { openTestFiles, type TestFiles } from '../../support/files.ts'
import { send } from '../../support/gateway.ts'

interface Page {
  readonly items: readonly { readonly id: string; readonly type: string; readonly subject: string }[]
  readonly next: string | null
}

const own = 1001 as SiteId
const other = 1002 as SiteId

describe('GET changes', () => {
  let files: TestFiles
  const tokens: Record<string, string> = {}
  beforeAll(async () => {
    files = await openTestFiles()
    const { sites, grants } = files.stores
    await sites.putDataCentre({ id: 'us', url: 'http://localhost', isDefault: true })
    for (const id of [own, other]) {
      const site = { id, name: 'Test', dataCentre: 'us', renderingEngine: true }
      await sites.createSite(site, { site: id, type: 'site.created', subject: `site/${id}`, actor: 'admin:root' })
    }
    const expires = Math.floor(Date.now() / 1000) + 3600
    for (const [name, permissions] of [
      ['ann', ['files']],
      ['bob', []],
    ] as const) {
      const token = newToken()
      await grants.put({ hash: hashToken(token), user: name, sites: [own, other], permissions, expires }, [])
      tokens[name] = token
    }
  })
  afterAll(() => files.close())

  const call = (query: Readonly<Record<string, string>> = {}, user = 'ann', site: number = own) =>
    send(files.handler, 'GET', `/api/v2/admin/sites/${site}/changes`, {
      headers: { Authorization: tokens[user] ?? '' },
      query,
    })
  const changes = async (...asked: Parameters<typeof call>) => {
    const answer = await call(...asked)
    expect(answer.status).toBe(200)
    return answer.json() as unknown as Page
  }
  const put = async (path: string, requestId = 'test') => {
    const headers = { Authorization: tokens['ann'] ?? '' }
    const target = `/api/v2/admin/sites/${own}/storage/${path}`
    const { status } = await send(files.handler, 'PUT', target, { headers, body: 'text', requestId })
    expect(status).toBe(200)
  }

  test('tells what has happened, by whom, when and in which request', async () => {
    const before = Date.now()
    await put('a/one.txt', 'the-request')
    const { items } = await changes()
    expect(items.at(-1)).toEqual({
      id: expect.stringMatching(/^\d{16}-1001$/),
      at: expect.any(String),
      type: 'file.stored',
      subject: 'a/one.txt',
      actor: 'ann',
      requestId: 'the-request',
      details: null,
    })
    const { at } = items.at(-1) as unknown as { at: string }
    expect(Date.parse(at)).toBeGreaterThanOrEqual(before)
    expect(new Date(at).toISOString()).toBe(at)
  })

  test('shows the newest without after, the oldest first, and goes on from there', async () => {
    for (const name of ['x1', 'x2', 'x3']) await put(name)
    const newest = await changes({ limit: '2' })
    expect(newest.items.map(({ subject }) => subject)).toEqual(['x2', 'x3'])
    expect(newest.next).toBe(newest.items.at(-1)?.id)
    const nothing = await changes({ after: newest.next ?? '' })
    expect(nothing).toEqual({ items: [], next: null })
    await put('x4')
    const news = await changes({ after: newest.next ?? '' })
    expect(news.items.map(({ subject }) => subject)).toEqual(['x4'])
  })

  test('leads over all of them from an empty after on, each once', async () => {
    for (const name of ['e1', 'e2', 'e3', 'e4']) await put(name)
    const seen: string[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page: Page = await changes({ after, limit: '1' })
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
    }
    expect(seen).toEqual((await changes({ after: '', limit: '500' })).items.map(({ id }) => id))
    expect(seen.length).toBeGreaterThan(4)
    expect(seen).toEqual(seen.toSorted())
  })

  test('is narrowed by type and by the beginning of the subject', async () => {
    await put('b/two.txt')
    const ofType = await changes({ type: 'site.created, form.created' })
    expect(ofType.items.map(({ type }) => type)).toEqual(['site.created'])
    // Where the reader has come to, not the last that it was shown.
    expect(ofType.next).toBe((await changes()).next)
    expect((await changes({ subject: 'b/' })).items.map(({ subject }) => subject)).toEqual(['b/two.txt'])
    expect((await changes({ after: '', type: 'form.created' })).items).toEqual([])
  })

  test('shows nothing of files to a token that may not use them', async () => {
    const { items, next } = await changes({ after: '', limit: '500' }, 'bob')
    expect(items.map(({ type }) => type)).toEqual(['site.created'])
    expect(next).toBe((await changes()).next)
  })

  test('is that of one site', async () => {
    expect((await changes({}, 'ann', other)).items.map(({ subject }) => subject)).toEqual(['site/1002'])
  })

  const malformed: readonly Readonly<Record<string, string>>[] = [
    ...['0', '-1', '501', 'abc', '1.5', '', '1e2', ' 5'].map((limit) => ({ limit })),
    ...['1', 'abc', '0000000000000000', '17698608000000001-1001', '9999999999999999-1001', '1769860800000000-0'].map(
      (after) => ({ after }),
    ),
    ...['1769860800000000-1002', '1769860800000000-1001 ', '../1001', `${'1'.repeat(16)}-${'9'.repeat(400)}`].map(
      (after) => ({ after }),
    ),
    ...['file.eaten', 'file', '', 'site.created,', 'x'.repeat(1_001)].map((type) => ({ type })),
    { subject: 'x'.repeat(1_001) },
  ]
  test.each(malformed)('refuses %j with 104000', async (query) => {
    const answer = await call(query)
    expect({ status: answer.status, code: answer.json()['code'] }).toEqual({ status: 400, code: 104000 })
  })

  test('has one entry of an upload of many files, with their names, and one of a folder that goes, with their number', async () => {
    const boundary = 'boundary'
    const names = ['one.txt', 'two.txt', 'three.txt']
    const parts = names.map(
      (name) => `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\ntext\r\n`,
    )
    const headers = { Authorization: tokens['ann'] ?? '', 'Content-Type': `multipart/form-data; boundary=${boundary}` }
    const target = `/api/v2/admin/sites/${own}/storage/many`
    const { next } = await changes()
    await send(files.handler, 'POST', target, { headers, body: `${parts.join('')}--${boundary}--\r\n` })
    await send(files.handler, 'PUT', target, { headers, query: { type: 'folder' } })
    await send(files.handler, 'DELETE', target, { headers })
    expect((await changes({ after: next ?? '' })).items).toMatchObject([
      { type: 'file.stored', subject: 'many', details: { names } },
      { type: 'folder.removed', subject: 'many', details: { count: 4 } },
    ])
  })
})
