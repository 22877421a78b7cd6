import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createCategoryLinksTable } from '../../lib/categories/category-links-table.ts'
import { embeddedTableNames } from '../../local/embedded-tables.ts'
import { type Table, verdict } from '../table.ts'
import { emptyCategory, site } from './library.ts'
import { meteredHandler } from './metered-handler.ts'

const count = 1_000
const perRequest = 100
const target = 2.1

const path = `/webresources/api/v3/sites/${site}/categories/${emptyCategory}/news`

/**
 * What linking costs. The embedded store does not charge for writes of an index; DynamoDB charges a unit for each entry under 1 KB, so the
 * entries that the index holds afterwards are counted and added.
 */
export const measureLinkCost = async (documents: DynamoDBDocumentClient): Promise<Table> => {
  const links = createCategoryLinksTable({ client: documents, table: embeddedTableNames.categoryLinks })
  const { request, takeUnits } = meteredHandler(documents, 1_000_000)
  const all = async (method: string) => {
    takeUnits()
    const startedAt = performance.now()
    for (let from = 1; from <= count; from += perRequest) {
      const items = Array.from({ length: perRequest }, (_, index) => ({ objectId: from + index }))
      const { status, body } = await request(method, path, {}, JSON.stringify({ items }))
      if (status >= 300) throw new Error(`${status} ${body}`)
    }
    return { ...takeUnits(), ms: performance.now() - startedAt }
  }
  const entries = async () => {
    let sum = 0
    for (let id = 1; id <= count; id++) {
      const categories = await links.categoriesOf(site, 'news', id, emptyCategory - 1, 1)
      if (categories[0] === emptyCategory) sum += 1
    }
    return sum
  }
  const before = await entries()
  const linking = await all('POST')
  const forIndex = (await entries()) - before
  const again = await all('POST')
  const unlinking = await all('DELETE')
  const gone = before + forIndex - (await entries())
  const row = (name: string, { read, written, ms }: typeof linking, index: number, limit?: number) => {
    const perLink = (written + index) / count
    return [
      name,
      (ms / count).toFixed(2),
      read / count,
      written / count,
      index / count,
      limit === undefined ? '' : `${perLink} ≤ ${limit}: ${verdict(perLink <= limit)}`,
    ]
  }
  return {
    title: `Cost per link of ${count.toLocaleString('en')} links, in requests of ${perRequest}`,
    columns: ['what', 'ms', 'RCU', 'WCU, items', 'WCU, index', 'target'],
    rows: [
      row('link', linking, forIndex, target),
      row('link again', again, 0, 0),
      row('unlink', unlinking, gone, target),
    ],
  }
}
