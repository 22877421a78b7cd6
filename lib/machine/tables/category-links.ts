import type { DatabaseSync } from 'node:sqlite'
import type { CategoryLink, CategoryLinks, LinkList, ObjectLinkOutcome } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import { byName } from '../../core/names.ts'
import type { Database } from '../sqlite/database.ts'
import { type CountedRows, countPages, type Flag, prepareAll, query, readPages } from '../sqlite/queries.ts'
import { contentTables, isNotBeingRemoved, linkTables } from '../sqlite/tables.ts'
import { type RecordChange, recordIf } from './history.ts'

interface LinkRow {
  readonly object: number
  readonly displayable: Flag
}

const toLink = ({ object, displayable }: LinkRow): CategoryLink => ({ id: object, displayable: displayable === 1 })

const idOf = ({ id }: { readonly id: number }): number => id

// The ids of a JSON list that have no row, or whose row is being removed.
const unknownIn = (table: string) => `SELECT value AS id FROM json_each(?2)
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
    ofCategory: query(ofCategory, toLink),
    countOfCategory: query<CountedRows>(`SELECT count(*) AS count, max(object) AS last FROM (${ofCategory})`),
    ofObject: query(ofObject, ({ category }: { category: CategoryId }) => category),
    countOfObject: query<CountedRows>(`SELECT count(*) AS count, max(category) AS last FROM (${ofObject})`),
    unknown: query(unknownIn(objects), idOf),
    object: `SELECT 1 FROM ${objects} WHERE site = ? AND id = ? AND going = 0`,
    // A link that exists is written only when it changes.
    put: `INSERT INTO ${table} (site, category, object, displayable) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET displayable = excluded.displayable WHERE displayable <> excluded.displayable`,
    add: `INSERT INTO ${table} (site, category, object, displayable) VALUES (?1, ?2, ?3, 1) ON CONFLICT DO NOTHING`,
    remove: `DELETE FROM ${table} WHERE site = ?1 AND category = ?2 AND object IN (SELECT value FROM json_each(?3))`,
    removeOfObject: `DELETE FROM ${table}
        WHERE site = ?1 AND object = ?2 AND category IN (SELECT value FROM json_each(?3))`,
  })
}

const createQueries = (database: Database, statements: Readonly<Record<ObjectKind, ReturnType<typeof prepareLinks>>>) =>
  ({
    list: ({ site, kind, category }, after, limit) =>
      readPages(database, statements[kind].ofCategory, { of: [site, category], after, limit, keyOf: idOf }),

    count: ({ site, kind, category }, after, limit) =>
      countPages(database, after, limit, (last, some) =>
        statements[kind].countOfCategory.get(site, category, last, some),
      ),

    categoriesOf: ({ site, kind, id }, after, limit) =>
      readPages(database, statements[kind].ofObject, {
        of: [site, id],
        after,
        limit,
        keyOf: (category): number => category,
      }),

    countCategoriesOf: ({ site, kind, id }, after, limit) =>
      countPages(database, after, limit, (last, some) => statements[kind].countOfObject.get(site, id, last, some)),
  }) satisfies Partial<CategoryLinks>

export const createCategoryLinks = (database: Database, record: RecordChange): CategoryLinks => {
  const { connection, write } = database
  const statements = byName(objectKindNames, (kind) => prepareLinks(connection, kind))
  const categories = prepareAll(connection, {
    get: 'SELECT 1 FROM categories WHERE site = ? AND id = ? AND going = 0',
    unknown: query(unknownIn('categories'), idOf),
  })

  const putLink = ({ site, kind, category }: LinkList, object: number, displayable: boolean | undefined): boolean => {
    const { put, add } = statements[kind]
    const { changes } =
      displayable === undefined ? add.run(site, category, object) : put.run(site, category, object, displayable ? 1 : 0)
    return changes === 1
  }

  const refusalOf = ({ site, kind, id }: SiteObject, wanted: readonly CategoryId[]): ObjectLinkOutcome | undefined => {
    if (!statements[kind].object.get(site, id)) return { outcome: 'object unknown' }
    const unknown = categories.unknown.all(site, JSON.stringify(wanted))
    return unknown.length > 0 ? { outcome: 'categories unknown', ids: new Set(unknown) } : undefined
  }

  return {
    ...createQueries(database, statements),

    link: (list, wanted, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        if (!categories.get.get(list.site, list.category)) return { outcome: 'category unknown' }
        const unknown = statements[list.kind].unknown.all(list.site, JSON.stringify([...wanted.keys()]))
        if (unknown.length > 0) return { outcome: 'objects unknown', ids: new Set(unknown) }
        const changed = [...wanted].filter(([id, displayable]) => putLink(list, id, displayable))
        recordIf(changed.length > 0, record, entry)
        return { outcome: 'linked' }
      }),

    unlink: ({ site, kind, category }, ids, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        if (!categories.get.get(site, category)) return false
        statements[kind].remove.run(site, category, JSON.stringify(ids))
        record(entry)
        return true
      }),

    linkObject: (object, wanted, entry, deadline = unlimited) =>
      write((): ObjectLinkOutcome => {
        deadline.check()
        const refusal = refusalOf(object, [...wanted.keys()])
        if (refusal) return refusal
        const { site, kind, id } = object
        const changed = [...wanted].filter(([category, shown]) => putLink({ site, kind, category }, id, shown))
        recordIf(changed.length > 0, record, entry)
        return { outcome: 'done' }
      }),

    unlinkObject: (object, given, entry, deadline = unlimited) =>
      write((): ObjectLinkOutcome => {
        deadline.check()
        const refusal = refusalOf(object, given)
        if (refusal) return refusal
        const { site, kind, id } = object
        statements[kind].removeOfObject.run(site, id, JSON.stringify(given))
        record(entry)
        return { outcome: 'done' }
      }),
  }
}
