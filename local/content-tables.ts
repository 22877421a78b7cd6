import type { ContentKind, ObjectKind } from '../lib/categories/content-kinds.ts'

/** Where the content of each kind is; a long text is in a table of its own. */
export const contentTables: Readonly<Record<ContentKind, { readonly table: string; readonly texts?: string }>> = {
  category: { table: 'categories' },
  news: { table: 'news', texts: 'news_texts' },
  blog: { table: 'blogs' },
}

/** Where the links with objects of each kind are. */
export const linkTables: Readonly<Record<ObjectKind, string>> = { news: 'news_links', blog: 'blog_links' }

/** The condition that an id of a site, which is the first parameter, is not that of content which is being removed. */
export const isStaying = (column: string, kind: ContentKind): string =>
  `${column} NOT IN (SELECT id FROM ${contentTables[kind].table} WHERE site = ?1 AND going = 1)`
