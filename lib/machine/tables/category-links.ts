import type { DatabaseSync } from 'node:sqlite'
import {
  type CategoryLink,
  type CategoryLinks,
  isList,
  type LinkEnd,
  type LinkOutcome,
  linkOf,
  linksOf,
} from '../../categories/category-links.ts'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import type { CategoryId } from '../../core/ids.ts'
import { byName } from '../../core/names.ts'
import type { Database } from '../sqlite/database.ts'
import {
  allArrays,
  type CountedRows,
  column,
  countPages,
  type Flag,
  idOf,
  one,
  prepareAll,
  readPages,
} from '../sqlite/queries.ts'
import { contentTables, isNotBeingRemoved, linkTables } from '../sqlite/tables.ts'
import { type RecordChange, recordIf } from './history.ts'

const toLink = ([id, displayable]: readonly [number, Flag]): CategoryLink => ({ id, displayable: displayable === 1 })

// The ids of a JSON list that have no row, or whose row is being removed.
const unknownIn = (table: string) => `SELECT value FROM json_each(?2)
  WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE site = ?1 AND id = value AND going = 0)`

const prepareLinks = (connection: DatabaseSync, kind: ObjectKind) => {
  const table = linkTables[kind]
  const objects = contentTables[kind].table
  const ofCategory = `SELECT object, displayable FROM ${table}
    WHERE site = ?1 AND category = ?2 AND object > ?3 AND ${isNotBeingRemoved('object', kind)}
      AND EXISTS (SELECT 1 FROM categories WHERE site = ?1 AND id = ?2 AND going = 0)
    ORDER BY object LIMIT +?4`
  const ofObject = `SELECT category FROM ${table}
    WHERE site = ?1 AND object = ?2 AND category > ?3 AND ${isNotBeingRemoved('category', 'category')}
      AND EXISTS (SELECT 1 FROM ${objects} WHERE site = ?1 AND id = ?2 AND going = 0)
    ORDER BY category LIMIT +?4`
  return prepareAll(connection, {
    ofCategory: allArrays(ofCategory, toLink),
    countOfCategory: one<CountedRows>(`SELECT count(*) AS count, max(object) AS last FROM (${ofCategory})`),
    ofObject: column<CategoryId>(ofObject),
    countOfObject: one<CountedRows>(`SELECT count(*) AS count, max(category) AS last FROM (${ofObject})`),
    unknown: column<number>(unknownIn(objects)),
    // With NULL, a new link is displayable, and an old link stays as it is.
    put: `INSERT INTO ${table} (site, category, object, displayable) VALUES (?1, ?2, ?3, coalesce(?4, 1))
      ON CONFLICT DO UPDATE SET displayable = ?4 WHERE displayable <> ?4`,
    remove: `DELETE FROM ${table} WHERE site = ?1 AND category = ?2 AND object = ?3`,
  })
}

export const createCategoryLinks = ({ connection, read, write }: Database, record: RecordChange): CategoryLinks => {
  const statements = byName(objectKindNames, (kind) => prepareLinks(connection, kind))
  const unknownCategories = column<number>(unknownIn('categories'))(connection)

  const putLink = ({ site, kind, category, id }: ReturnType<typeof linkOf>, displayable?: boolean): boolean =>
    statements[kind].put(site, category, id, displayable) === 1

  const refusalOf = (end: LinkEnd, others: readonly number[]): LinkOutcome | undefined => {
    const unknownObjects = statements[end.kind].unknown
    const [own, unknown] = isList(end) ? [unknownCategories, unknownObjects] : [unknownObjects, unknownCategories]
    if (own(end.site, [isList(end) ? end.category : end.id]).length > 0) return { outcome: 'end unknown' }
    const ids = unknown(end.site, others)
    return ids.length > 0 ? { outcome: 'others unknown', ids: new Set(ids) } : undefined
  }

  return {
    list: ({ site, kind, category }, after, limit) =>
      readPages(read, statements[kind].ofCategory, [site, category, after], idOf, limit),

    count: ({ site, kind, category }, after, limit) =>
      countPages(read, statements[kind].countOfCategory, [site, category, after], limit),

    categoriesOf: ({ site, kind, id }, after, limit) =>
      readPages(read, statements[kind].ofObject, [site, id, after], Number, limit),

    countCategoriesOf: ({ site, kind, id }, after, limit) =>
      countPages(read, statements[kind].countOfObject, [site, id, after], limit),

    link: (end, wanted, entry, deadline) =>
      write((): LinkOutcome => {
        deadline?.check()
        const refusal = refusalOf(end, [...wanted.keys()])
        if (refusal) return refusal
        const changed = [...wanted].filter(([other, displayable]) => putLink(linkOf(end, other), displayable))
        recordIf(changed.length > 0, record, entry)
        return { outcome: 'done' }
      }),

    unlink: (end, others, entry, deadline) =>
      write((): LinkOutcome => {
        deadline?.check()
        const refusal = refusalOf(end, isList(end) ? [] : others)
        if (refusal) return refusal
        for (const { site, kind, category, id } of linksOf(end, others)) {
          statements[kind].remove(site, category, id)
        }
        record(entry)
        return { outcome: 'done' }
      }),
  }
}
