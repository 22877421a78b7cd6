import type { Content } from '../../../lib/categories/contents.ts'
import { withDefaults } from '../../../lib/core/content-kinds.ts'
import type { Scalars } from '../../../lib/core/object-kinds.ts'

/** The largest id of content is the largest 32-bit integer. */
export const largestContentId = 2_147_483_647

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

export const newsItem = (id: number, members: Scalars = {}): Content =>
  withDefaults('news', { id, subject: `Subject ${id}`, body: `<p>Text ${id}</p>`, ...members }, Date.UTC(2026, 0, 1))

export const idsOf = (values: readonly { readonly id: number }[]): number[] => values.map(({ id }) => id)

export const newsItems = (ids: readonly number[]): Content[] => ids.map((id) => newsItem(id))

export const namedCategories = (ids: readonly number[]): Content[] => ids.map((id) => ({ id, name: `Category ${id}` }))
