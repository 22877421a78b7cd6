import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { hashToken } from '../../lib/access/token.ts'
import { createTokensTable } from '../../lib/access/tokens-table.ts'
import { createCategoryLinksTable } from '../../lib/categories/category-links-table.ts'
import { withDefaults } from '../../lib/categories/content-defaults.ts'
import { createContentTable } from '../../lib/categories/content-table.ts'
import type { CategoryId, SiteId } from '../../lib/ids.ts'
import { createSitesTable } from '../../lib/sites/sites-table.ts'
import { embeddedTableNames } from '../../local/embedded-tables.ts'

/** A site with categories of very different sizes over the same news items. */
export const site = 1001 as SiteId
export const token = '0'.repeat(64)

/** How many links the category of each id has. */
export const sizes: ReadonlyMap<CategoryId, number> = new Map(
  [100, 1_000, 10_000, 100_000].map((size, index) => [(index + 1) as CategoryId, size]),
)
/** A category to be linked with; it begins empty. */
export const emptyCategory = 9 as CategoryId

const newsCount = Math.max(...sizes.values())
const step = 2_000

const hour = 3_600_000

/** One in a hundred weighs 7; release dates jump about, so that sorting has work to do. */
const newsItem = (id: number) => {
  const releaseDate = new Date(Date.UTC(2020, 0, 1) + ((id * 7_919) % 50_000) * hour).toISOString().slice(0, 19)
  const members = {
    id,
    subject: `What happened on day ${id}`,
    body: '<p>It was a day.</p>',
    weight: id % 100,
    releaseDate,
  }
  return withDefaults('news', members, Date.UTC(2020, 0, 1))
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Fills the tables. Takes a minute or two. */
export const storeLibrary = async (client: DynamoDBDocumentClient): Promise<void> => {
  const sites = createSitesTable(client, embeddedTableNames.sites)
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await sites.createSite({ id: site, name: 'Bench', dataCentre: 'us', renderingEngine: true })
  await createTokensTable(client, embeddedTableNames.tokens).put({
    hash: hashToken(token),
    user: 'bench',
    sites: [site],
    permissions: [],
    expires: Math.floor(Date.now() / 1000) + 24 * 3600,
  })
  const content = createContentTable({ client, table: embeddedTableNames.content })
  const links = createCategoryLinksTable({ client, table: embeddedTableNames.categoryLinks })
  const categories = [...sizes.keys(), emptyCategory]
  await content.putMany(
    site,
    'category',
    categories.map((id) => ({ id, name: `Category ${id}` })),
  )
  for (let from = 1; from <= newsCount; from += step) {
    const ids = numbers(from, Math.min(from + step - 1, newsCount))
    await content.putMany(site, 'news', ids.map(newsItem))
    for (const [category, size] of sizes) {
      const some = ids.filter((id) => id <= size).map((id) => ({ id, displayable: true }))
      await links.putMany({ site, kind: 'news', category }, some)
    }
  }
}
