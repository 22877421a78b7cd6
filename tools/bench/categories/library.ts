import { createCategoriesHandler } from '../../../functions/categories/group.ts'
import { withDefaults } from '../../../lib/core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { createCategoriesDeps } from '../../../lib/service/deps.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import type { Answer } from '../../../test/support/answer.ts'
import { fillDirectory } from '../../../test/support/every-operation.ts'
import { send } from '../../../test/support/gateway.ts'
import { entry } from '../../../test/support/history.ts'
import { unlogged } from '../measure/grounds.ts'

// The benches read categories of different sizes on this site. All of them contain the same news items.
export const site = 1001 as SiteId

export const newsOf = (category: CategoryId): string => `/webresources/api/v3/sites/${site}/categories/${category}/news`

// The number of links of each category.
export const sizes: ReadonlyMap<CategoryId, number> = new Map(
  [100, 1_000, 10_000, 100_000].map((size, index) => [(index + 1) as CategoryId, size]),
)
export const smallCategory = 1 as CategoryId
// A category that is empty at the start. The benches link objects to it.
export const emptyCategory = 9 as CategoryId

type CategoriesStores = Pick<Stores, 'sites' | 'grants' | 'people' | 'contents' | 'links'>

export type Ask = (
  method: string,
  path: string,
  query?: Readonly<Record<string, string>>,
  body?: string,
) => Promise<Answer>

/** Sends requests to the operations over these stores. */
export const askOver = (stores: CategoriesStores, token: string, longestList = 1_000_000): Ask => {
  const settings = { dataCentre: 'us', longestList }
  const deps = createCategoriesDeps(settings, stores, unlogged)
  // The cache of replies is off, because the benches measure reading.
  const handler = createCategoriesHandler({ ...deps, cacheReply: (_, make) => make() })
  return (method, path, query = {}, body = '') =>
    send(handler, method, path, { headers: { Authorization: token }, query, body })
}

const newsCount = Math.max(...sizes.values())
const step = 2_000

const hour = 3_600_000

// One in a hundred items weighs 7. The order of the release dates differs from the order of the ids, so that sorting
// has work to do.
const newsItem = (id: number) => {
  const releaseDate = new Date(Date.UTC(2020, 0, 1) + ((id * 7_919) % 50_000) * hour).toISOString().slice(0, 19)
  const members = {
    id,
    subject: `News of day ${id}`,
    body: '<p>It was a day.</p>',
    weight: id % 100,
    releaseDate,
  }
  return withDefaults('news', members, Date.UTC(2020, 0, 1))
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Fills empty stores. Returns a token for the site. */
export const storeLibrary = async ({ contents, links, ...directory }: CategoriesStores): Promise<string> => {
  const token = await fillDirectory(directory)
  const categories = [...sizes.keys(), emptyCategory]
  const named = categories.map((id) => ({ id, name: `Category ${id}` }))
  await contents.putMany(site, 'category', named, entry)
  for (let from = 1; from <= newsCount; from += step) {
    const ids = numbers(from, Math.min(from + step - 1, newsCount))
    await contents.putMany(site, 'news', ids.map(newsItem), entry)
    for (const [category, size] of sizes) {
      const wanted = new Map(ids.filter((id) => id <= size).map((id) => [id, true]))
      if (wanted.size > 0) await links.link({ site, kind: 'news', category }, wanted, entry)
    }
  }
  return token
}
