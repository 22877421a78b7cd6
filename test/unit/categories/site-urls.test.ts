import { expect, test } from 'vitest'
import { listSiteUrls, siteUrlList } from '../../../lib/categories/lists.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import type { SiteId } from '../../../lib/core/ids.ts'

const site = 1001 as SiteId
const url = 'https://us.example.com'

const list = async (...switches: readonly [string, string][]) => {
  const query = parseListQuery(new Map(switches), siteUrlList(site))
  return JSON.parse(await listSiteUrls(site, url, query))
}

test('a site has one address, at any position of the list', async () => {
  const items = [{ siteId: site, url }]
  expect(await list()).toMatchObject({ items, totalItemsCount: 1 })
  expect(await list(['skip', '1'])).toMatchObject({ items: [], totalItemsCount: 1 })
  expect(await list(['limit', '0'])).toMatchObject({ items: [], totalItemsCount: 1 })
})

test('the list ends after its only address', async () => {
  const page = await list(['cursor', ''], ['limit', '1'], ['count', 'true'])
  expect(page).toMatchObject({ items: [{ siteId: site, url }], totalItemsCount: 1, nextCursor: null })
})
