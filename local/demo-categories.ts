import type { Content } from '../lib/categories/contents.ts'
import { type ObjectKind, objectKindNames, withDefaults } from '../lib/core/content-kinds.ts'
import type { ChangeType, HistoryEntry } from '../lib/core/history-entry.ts'
import type { CategoryId, SiteId } from '../lib/core/ids.ts'
import type { Stores } from '../lib/service/stores.ts'

interface DemoCategory {
  readonly id: number
  readonly name: string
  readonly words: readonly [string, ...string[]]
}

const categories: readonly [DemoCategory, ...DemoCategory[]] = [
  { id: 1, name: 'Company', words: ['opens an office', 'welcomes a new colleague', 'publishes its annual report'] },
  { id: 2, name: 'Products', words: ['ships a new release', 'retires an old version', 'wins an award'] },
  { id: 3, name: 'Events', words: ['invites to a workshop', 'speaks at a conference', 'celebrates its anniversary'] },
]

const places = ['Bucharest', 'San Jose', 'Sydney', 'Hamburg', 'Bangalore', 'London', 'Tokyo'] as const

const entry = <Value>(values: readonly [Value, ...Value[]], index: number): Value =>
  values[index % values.length] ?? values[0]

const day = (year: number, dayOfYear: number): string =>
  new Date(Date.UTC(year, 0, dayOfYear, 9)).toISOString().slice(0, 19)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

// The dates cover two years. Every tenth item has expired, and some are deleted, switched off or weighted, so that
// every filter finds items.
const news = (id: number): Content => {
  const category = entry(categories, id)
  const subject = `${entry(places, id)} ${entry(category.words, Math.floor(id / 3))}`
  const releaseDate = day(2025, id * 17)
  return withDefaults(
    'news',
    {
      id,
      subject,
      body: `<p>${subject}. This is item ${id} of the demo site.</p>`,
      createDate: day(2025, id * 17 - 3),
      releaseDate,
      weight: id % 4 === 0 ? id : null,
      deleted: id % 13 === 0,
      enabled: id % 11 !== 0,
      displayable: id % 7 !== 0,
      ...(id % 10 === 0 && { expiryDate: day(2026, id) }),
    },
    Date.parse(`${releaseDate}Z`),
  )
}

const blog = (id: number): Content =>
  withDefaults(
    'blog',
    {
      id,
      blogName: `Notes from ${entry(places, id)}`,
      blogDescription: `What happens in ${entry(places, id)}`,
      postCount: id * 5,
      lastPostDate: day(2026, id * 21),
      disableComments: id % 3 === 0,
      slug: `notes-${id}`,
      blogUrl: `/blogs/notes-${id}`,
    },
    Date.UTC(2025, 0, id),
  )

interface DemoObjects {
  readonly count: number
  readonly objectOf: (id: number) => Content
  readonly isIn: (id: number, category: number) => boolean
  readonly isDisplayable: (id: number) => boolean
}

const isInOne = (id: number, category: number) => id % categories.length === category

const demoObjects: Partial<Record<ObjectKind, DemoObjects>> = {
  news: {
    count: 40,
    objectOf: news,
    isIn: (id, category) => isInOne(id, category) || id % 8 === category,
    isDisplayable: (id) => id % 5 !== 0,
  },
  blog: { count: 8, objectOf: blog, isIn: isInOne, isDisplayable: () => true },
}

// The kinds without demo data get the examples of the OpenAPI document.
const plainObjects = (kind: ObjectKind): DemoObjects => ({
  count: 8,
  objectOf: (id) => withDefaults(kind, { id }, Date.UTC(2025, 0, id)),
  isIn: isInOne,
  isDisplayable: () => true,
})

export const demoCategories: readonly CategoryId[] = categories.map(({ id }) => id as CategoryId)

export const storeDemoCategories = async (
  { contents, links }: Pick<Stores, 'contents' | 'links'>,
  site: SiteId,
  entryOf: (type: ChangeType, subject: string) => HistoryEntry,
): Promise<void> => {
  const rows = categories.map(({ id, name }) => ({ id, name }))
  await contents.putMany(site, 'category', rows, entryOf('content.imported', 'category'))
  for (const kind of objectKindNames) {
    const { count, objectOf, isIn, isDisplayable } = demoObjects[kind] ?? plainObjects(kind)
    await contents.putMany(site, kind, numbers(count).map(objectOf), entryOf('content.imported', kind))
    for (const [index, category] of demoCategories.entries()) {
      const ids = numbers(count).filter((id) => isIn(id, index))
      const wanted = new Map(ids.map((id) => [id, isDisplayable(id)]))
      await links.link({ site, kind, category }, wanted, entryOf('link.added', `category/${category}/${kind}`))
    }
  }
}
