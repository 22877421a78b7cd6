import { byName } from '../lib/by-name.ts'
import { type ContentKind, type ObjectKind, objectKindNames, textMember } from '../lib/categories/content-kinds.ts'
import { objectKinds } from '../lib/categories/object-kinds.ts'

interface ContentTable {
  readonly table: string
  /** Where the long texts are, for a kind that has them. */
  readonly texts?: string
}

/** Where the content of each kind is; a long text is in a table of its own. */
export const contentTables: Readonly<Record<ContentKind, ContentTable>> = {
  category: { table: 'categories' },
  ...byName(objectKindNames, (kind) => ({
    table: objectKinds[kind].segment,
    ...(textMember(kind) !== undefined && { texts: `${kind}_texts` }),
  })),
}

/** Where the links with objects of each kind are. */
export const linkTables: Readonly<Record<ObjectKind, string>> = byName(objectKindNames, (kind) => `${kind}_links`)

/**
 * The condition that an id of a site, which is the first parameter, is not that of content which is being removed. There hardly ever is
 * any: SQLite looks for that once, and only then at each id. (`NOT IN` would have it make a filter for a million of them.)
 */
export const isStaying = (column: string, kind: ContentKind): string => {
  const { table } = contentTables[kind]
  return `NOT (EXISTS (SELECT 1 FROM ${table} WHERE site = ?1 AND going = 1)
    AND EXISTS (SELECT 1 FROM ${table} AS those WHERE those.site = ?1 AND those.id = ${column} AND those.going = 1))`
}
