import type { DatabaseSync } from 'node:sqlite'
import type { CategoryLink, CategoryLinks, LinkList, ObjectLinkOutcome } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import { byName, type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { refuseLate, unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import type { Database } from '../sqlite/database.ts'
import { type CountedRows, countPages, type Flag, prepare, type Query, readPages } from '../sqlite/queries.ts'
import { contentTables, isNotBeingRemoved, linkTables } from '../sqlite/tables.ts'
import type { RecordChange } from './history.ts'

/** Counts the rows of a query, the last column of which is the key. */
const counting = (connection: DatabaseSync, query: string, key: string): Query<CountedRows> =>
  prepare(connection, `SELECT count(*) AS count, max(${key}) AS last FROM (${query})`)

interface LinkRow {
  readonly object: number
  readonly displayable: Flag
}

const linkStatements = (connection: DatabaseSync, kind: ObjectKind) => {
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
  return {
    ofCategory: prepare<LinkRow>(connection, ofCategory),
    countOfCategory: counting(connection, ofCategory, 'object'),
    ofObject: prepare<{ category: CategoryId }>(connection, ofObject),
    countOfObject: counting(connection, ofObject, 'category'),
    unknown: prepare<{ id: number }>(
      connection,
      `SELECT value AS id FROM json_each(?2)
       WHERE NOT EXISTS (SELECT 1 FROM ${objects} WHERE site = ?1 AND id = value AND going = 0)`,
    ),
    // A link that exists is written only when it changes.
    put: connection.prepare(
      `INSERT INTO ${table} (site, category, object, displayable) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET displayable = excluded.displayable WHERE displayable <> excluded.displayable`,
    ),
    add: connection.prepare(
      `INSERT INTO ${table} (site, category, object, displayable) VALUES (?1, ?2, ?3, 1) ON CONFLICT DO NOTHING`,
    ),
    remove: connection.prepare(
      `DELETE FROM ${table} WHERE site = ?1 AND category = ?2 AND object IN (SELECT value FROM json_each(?3))`,
    ),
    object: connection.prepare(`SELECT 1 FROM ${objects} WHERE site = ? AND id = ? AND going = 0`),
    removeOfObject: connection.prepare(
      `DELETE FROM ${table} WHERE site = ?1 AND object = ?2 AND category IN (SELECT value FROM json_each(?3))`,
    ),
  }
}

const toLink = ({ object, displayable }: LinkRow): CategoryLink => ({ id: object, displayable: displayable === 1 })

interface Deps {
  readonly database: Database
  readonly statements: Readonly<Record<ObjectKind, ReturnType<typeof linkStatements>>>
}

const createQueries = ({ database, statements }: Deps) => {
  const list: CategoryLinks['list'] = ({ site, kind, category }, after, limit) =>
    readPages(database, {
      after,
      limit,
      query: (last, some) => statements[kind].ofCategory.all(site, category, last, some).map(toLink),
      keyOf: ({ id }) => id,
    })

  return {
    list,
    listConsistently: list,

    count: ({ site, kind, category }, after, limit) =>
      countPages(database, after, limit, (last, some) =>
        statements[kind].countOfCategory.get(site, category, last, some),
      ),

    categoriesOf: ({ site, kind, id }, after, limit) =>
      readPages<CategoryId, number>(database, {
        after,
        limit,
        query: (last, some) => statements[kind].ofObject.all(site, id, last, some).map(({ category }) => category),
        keyOf: (category) => category,
      }),

    countCategoriesOf: ({ site, kind, id }, after, limit) =>
      countPages(database, after, limit, (last, some) => statements[kind].countOfObject.get(site, id, last, some)),
  } satisfies Partial<CategoryLinks>
}

type PutLink = (list: LinkList, id: number, displayable: boolean | undefined) => boolean

const createObjectLinks = (
  { database: { connection, write }, statements }: Deps,
  putLink: PutLink,
  record: RecordChange,
): Pick<CategoryLinks, 'linkObject' | 'unlinkObject'> => {
  const unknownCategories = prepare<{ id: number }>(
    connection,
    `SELECT value AS id FROM json_each(?2)
     WHERE NOT EXISTS (SELECT 1 FROM categories WHERE site = ?1 AND id = value AND going = 0)`,
  )

  const refusal = (
    { site, kind, id }: SiteObject,
    categories: readonly CategoryId[],
  ): ObjectLinkOutcome | undefined => {
    if (!statements[kind].object.get(site, id)) return { outcome: 'object unknown' }
    const unknown = unknownCategories.all(site, JSON.stringify(categories))
    if (unknown.length === 0) return undefined
    return { outcome: 'categories unknown', ids: new Set(unknown.map((row) => row.id)) }
  }

  return {
    linkObject: (object, wanted, entry, remainingTime = unlimited) =>
      write((): ObjectLinkOutcome => {
        refuseLate(remainingTime)
        const refused = refusal(object, [...wanted.keys()])
        if (refused) return refused
        const { site, kind, id } = object
        const changed = [...wanted].filter(([category, displayable]) =>
          putLink({ site, kind, category }, id, displayable),
        )
        if (changed.length > 0) record(entry)
        return { outcome: 'done' }
      }),

    unlinkObject: (object, categories, entry, remainingTime = unlimited) =>
      write((): ObjectLinkOutcome => {
        refuseLate(remainingTime)
        const refused = refusal(object, categories)
        if (refused) return refused
        const { site, kind, id } = object
        statements[kind].removeOfObject.run(site, id, JSON.stringify(categories))
        record(entry)
        return { outcome: 'done' }
      }),
  }
}

export const createCategoryLinks = (database: Database, record: RecordChange): CategoryLinks => {
  const { connection, write } = database
  const statements = byName(objectKindNames, (kind) => linkStatements(connection, kind))
  const deps = { database, statements }
  const category = connection.prepare('SELECT 1 FROM categories WHERE site = ? AND id = ? AND going = 0')

  const putLink: PutLink = ({ site, kind, category: id }, object, displayable) => {
    const { put, add } = statements[kind]
    const { changes } =
      displayable === undefined ? add.run(site, id, object) : put.run(site, id, object, displayable ? 1 : 0)
    return changes === 1
  }

  return {
    ...createQueries(deps),
    ...createObjectLinks(deps, putLink, record),

    link: (list, wanted, entry, remainingTime = unlimited) =>
      write(() => {
        refuseLate(remainingTime)
        if (!category.get(list.site, list.category)) return { outcome: 'category unknown' }
        const unknown = statements[list.kind].unknown.all(list.site, JSON.stringify([...wanted.keys()]))
        if (unknown.length > 0) return { outcome: 'objects unknown', ids: new Set(unknown.map(({ id }) => id)) }
        const changed = [...wanted].filter(([id, displayable]) => putLink(list, id, displayable))
        if (changed.length > 0) record(entry)
        return { outcome: 'linked' }
      }),

    unlink: ({ site, kind, category: id }, ids, entry, remainingTime = unlimited) =>
      write(() => {
        refuseLate(remainingTime)
        if (!category.get(site, id)) return false
        statements[kind].remove.run(site, id, JSON.stringify(ids))
        record(entry)
        return true
      }),
  }
}
