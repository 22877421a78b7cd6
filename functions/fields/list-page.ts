import type { Link } from '../../lib/http/links.ts'

/** The v1 list wrapper (api.md, "Field list response"). These lists have one page, whatever is on it. */
export interface ListPage<Item> {
  readonly links: readonly Link[]
  readonly items: readonly Item[]
  readonly totalItemsCount: number
  readonly itemsPerPageCount: number
  readonly currentPage: number
}

export const listPage = <Item>(self: string, items: readonly Item[]): ListPage<Item> => ({
  links: [
    { rel: 'self', uri: self },
    { rel: 'previous', uri: null },
    { rel: 'next', uri: null },
  ],
  items,
  totalItemsCount: items.length,
  itemsPerPageCount: 1000,
  currentPage: 1,
})
