import type { ContentKind, ObjectKind } from '../lib/categories/content-kinds.ts'

/** Where the content of each kind is; a long text is in a table of its own. */
export const contentTables: Readonly<Record<ContentKind, { readonly table: string; readonly texts?: string }>> = {
  category: { table: 'categories' },
  news: { table: 'news', texts: 'news_texts' },
  blog: { table: 'blogs' },
}

/** Where the links with objects of each kind are. */
export const linkTables: Readonly<Record<ObjectKind, string>> = { news: 'news_links', blog: 'blog_links' }

/**
 * The condition that an id of a site, which is the first parameter, is not that of content which is being removed. There hardly ever is
 * any: SQLite looks for that once, and only then at each id. (`NOT IN` would have it make a filter for a million of them.)
 */
export const isStaying = (column: string, kind: ContentKind): string => {
  const { table } = contentTables[kind]
  return `NOT (EXISTS (SELECT 1 FROM ${table} WHERE site = ?1 AND going = 1)
    AND EXISTS (SELECT 1 FROM ${table} AS those WHERE those.site = ?1 AND those.id = ${column} AND those.going = 1))`
}
