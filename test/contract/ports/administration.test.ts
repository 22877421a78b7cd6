import { expect, test } from 'vitest'
import { hashToken, newToken, uncover } from '../../../lib/access/grants.ts'
import { type Content, listWhole } from '../../../lib/categories/contents.ts'
import { mergeContent } from '../../../lib/core/content-kinds.ts'
import type { ChangeType } from '../../../lib/core/history-entry.ts'
import type { CategoryId, SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { describeOn, hands, handsOfPorts, ownSite as site, type TableStores } from '../../support/hands.ts'
import { idsOf, namedCategories, newsItem, newsItems, range } from './some-content.ts'

const now = Date.UTC(2026, 0, 1)
const field = { typeId: -2, mandatory: true, order: 1 }

const entry = (type: ChangeType = 'content.imported') => ({ site, type, subject: 'test', actor: 'ann' })
const recordedTypes = async (history: TableStores['history']) =>
  (await history.after(site, 0, 100)).map(({ type }) => type)

/** Only commands use the calls that this file tests. */
describeOn({ kinds: handsOfPorts, subject: 'administration of content' }, ({ stores: { contents, history } }) => {
  const merge = (...given: readonly Content[]) => {
    const byId = new Map(given.map((content) => [content.id, content]))
    const change = (stored: Content | undefined, id: number) =>
      mergeContent('news', stored, byId.get(id) ?? { id }, now)
    return contents.changeMany(site, 'news', [...byId.keys()], change, entry())
  }
  const wholeNews = async (id: number) =>
    (await listWhole(contents, site, 'news', id - 1, 1)).map(({ content }) => content)[0]

  test('A change keeps the members that it does not name, including the long text', async () => {
    await contents.putMany(site, 'news', [newsItem(1, { weight: 7, enabled: false })], entry())
    expect(await merge({ id: 1, roleId: 3 })).toBe(1)
    expect(await wholeNews(1)).toEqual({ ...newsItem(1, { weight: 7, enabled: false, roleId: 3 }), siteId: site })
    expect(await merge({ id: 1, body: 'Other', weight: null })).toBe(1)
    expect(await wholeNews(1)).toMatchObject({ body: 'Other', weight: null, roleId: 3 })
  })

  test('A change of many items writes one entry, but none for the same values (H-1)', async () => {
    const given = range(1, 501).map((id) => newsItem(id))
    expect(await merge(...given)).toBe(501)
    expect(await merge(...given)).toBe(0)
    expect(await merge(...given, { id: 502, subject: 'New' })).toBe(1)
    expect(await merge({ id: 3, body: '<p>Text 3</p>' }, { id: 4, body: 'x' })).toBe(1)
    expect(await merge({ id: 4, body: 'x' })).toBe(0)
    expect(await recordedTypes(history)).toEqual(Array(3).fill('content.imported'))
  })
})

describeOn({ kinds: handsOfPorts, subject: 'administration of forms and workflows' }, ({ stores }) => {
  const { webForms, workflows } = stores

  test('Forms are listed with their fields, in pages that may begin after any id', async () => {
    for (const id of range(1, 5)) {
      await webForms.create({ site, id: id as WebFormId, name: `Form ${id}`, fields: [field] }, entry())
    }
    const forms = await webForms.listWhole(site, 0, 100)
    expect(forms).toEqual(range(1, 5).map((id) => ({ site, id, name: `Form ${id}`, fields: [field] })))
    expect(idsOf(await webForms.listWhole(site, 2, 2))).toEqual([3, 4])
    expect(await webForms.listWhole(site, 5, 2)).toEqual([])
  })

  test('Running workflows are listed in the byte order of their paths', async () => {
    const pages = ['a/b.html', 'a.html', 'ä.html', 'z/\u{ffff}.html'].map(toStoragePath)
    for (const page of pages) await workflows.start(site, page, entry('workflow.created'))
    await workflows.start((site + 1_000) as SiteId, toStoragePath('other.html'), entry())
    const sorted = pages.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(await workflows.list(site, undefined, 100)).toEqual(sorted)
    expect(await workflows.list(site, sorted[1], 1)).toEqual([sorted[2]])
  })
})

describeOn({ kinds: hands, subject: 'clearing a site' }, ({ stores: { webForms, contents, links, workflows } }) => {
  const fill = async (of: SiteId) => {
    await webForms.create({ site: of, id: 1 as WebFormId, name: 'One', fields: [field] }, entry())
    await contents.putMany(of, 'category', namedCategories(range(1, 3)), entry())
    await contents.putMany(of, 'news', newsItems(range(1, 120)), entry())
    for (const category of [1, 2] as CategoryId[]) {
      await links.link({ site: of, kind: 'news', category }, new Map(range(1, 120).map((id) => [id, true])), entry())
    }
    for (const page of ['a.html', 'b/c.html']) await workflows.start(of, toStoragePath(page), entry())
  }
  const leftOf = async (of: SiteId) => ({
    forms: (await webForms.listWhole(of, 0, 100)).length,
    categories: (await listWhole(contents, of, 'category', 0, 100)).length,
    news: (await listWhole(contents, of, 'news', 0, 200)).length,
    texts: (await contents.texts(of, 'news', range(1, 120))).size,
    workflows: (await workflows.list(of, undefined, 10)).length,
  })
  const full = { forms: 1, categories: 3, news: 120, texts: 120, workflows: 2 }

  test('Clearing a site removes all its links, and keeps every record of other sites', async () => {
    const other = (site + 5_000) as SiteId
    await fill(site)
    await fill(other)
    for (let time = 0; time < 2; time++) {
      for (const store of [contents, webForms, workflows]) await store.clear(site)
      expect(await leftOf(site)).toEqual({ forms: 0, categories: 0, news: 0, texts: 0, workflows: 0 })
    }
    expect(await leftOf(other)).toEqual(full)
    await contents.putMany(site, 'category', [{ id: 1, name: 'Again' }], entry())
    await contents.putMany(site, 'news', [newsItem(7)], entry())
    const list = { site, kind: 'news', category: 1 as CategoryId } as const
    expect(await links.list(list, 0, 10, true)).toEqual([])
    expect(await links.list({ ...list, site: other }, 118, 10, true)).toHaveLength(2)
  })
})

describeOn({ kinds: handsOfPorts, subject: 'administration of tokens' }, (hand) => {
  const { grants, history } = hand.stores

  test('A token is removed together with the last of its sites', async () => {
    const other = (site + 5_000) as SiteId
    const hash = hashToken(newToken())
    const grant = { hash, user: 'ann', sites: [site, other], permissions: ['files'] as const, expires: 1_900_000_000 }
    const lose = (one: SiteId, type: ChangeType) =>
      grants.change(hash, (present) => uncover(present, one), [entry(type)])
    await grants.put(grant, [])
    expect(await lose(999_999 as SiteId, 'token.changed')).toBe(false)
    expect(await lose(site, 'token.changed')).toBe(true)
    expect(await grants.get(hash)).toEqual({ ...grant, sites: [other] })
    expect(await lose(site, 'token.changed')).toBe(false)
    expect(await lose(other, 'token.removed')).toBe(true)
    expect(await grants.get(hash)).toBeUndefined()
    expect(await recordedTypes(history)).toEqual(['token.changed', 'token.removed'])
  })

  test('A token loses all sites that several callers remove from it at once', async () => {
    const sites = range(1, 4).map((id) => (10_000 + id) as SiteId)
    const hash = hashToken(newToken())
    await grants.put({ hash, user: 'ann', sites, permissions: [], expires: 1_900_000_000 }, [])
    const lose = (one: SiteId) =>
      hand.connect().grants.change(hash, (grant) => uncover(grant, one), [entry('token.changed')])
    await Promise.all(sites.slice(1).map(lose))
    expect((await grants.get(hash))?.sites).toEqual([sites[0]])
  })
})
