import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { statusAndCode } from '../../support/answer.ts'
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
    return answer.json as Page
  }
  const put = async (path: string, requestId = 'test') => {
    const headers = { Authorization: tokens['ann'] ?? '' }
    const target = `/api/v2/admin/sites/${own}/storage/${path}`
    const { status } = await send(files.handler, 'PUT', target, { headers, body: 'text', requestId })
    expect(status).toBe(200)
  }

  test('leads over all of them from an empty after on, each once', async () => {
    for (const name of ['y1', 'y2', 'y3', 'y4']) await put(name)
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
    expect(statusAndCode(answer)).toEqual([400, 104000])
  })
})
