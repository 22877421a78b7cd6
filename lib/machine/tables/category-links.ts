import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { CategoryLink, CategoryLinks, LinkList, ObjectLinkOutcome } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import { type ObjectKind, objectKindNames } from '../../core/content-kinds.ts'
import { unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import { byName } from '../../core/names.ts'
import type { Database } from '../sqlite/database.ts'
import { countPages, readPages } from '../sqlite/paging.ts'
import { contentTables, isNotBeingRemoved, linkTables } from '../sqlite/tables.ts'
import type { RecordChange } from './history.ts'

/** Counts the rows of a query, the last column of which is the key. */
const counting = (connection: DatabaseSync, query: string, key: string): StatementSync =>
  connection.prepare(`SELECT count(*) AS count, max(${key}) AS last FROM (${query})`)

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
    ofCategory: connection.prepare(ofCategory),
    countOfCategory: counting(connection, ofCategory, 'object'),
    ofObject: connection.prepare(ofObject),
    countOfObject: counting(connection, ofObject, 'category'),
    unknown: connection.prepare(
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

const toLink = (row: Readonly<Record<string, unknown>>): CategoryLink => ({
  id: Number(row['object']),
  displayable: row['displayable'] === 1,
})

interface Deps extends Pick<Database, 'read' | 'write'> {
  readonly statements: Readonly<Record<ObjectKind, ReturnType<typeof linkStatements>>>
}

const createQueries = ({ read, statements }: Deps) => {
  const list: CategoryLinks['list'] = ({ site, kind, category }, after, limit) =>
    readPages(
      after,
      limit,
      (last, some) => read(() => statements[kind].ofCategory.all(site, category, last, some).map(toLink)),
      ({ id }) => id,
    )

  return {
    list,
    listConsistently: list,

    count: ({ site, kind, category }, after, limit) =>
      countPages(after, limit, (last, some) =>
        read(() => statements[kind].countOfCategory.get(site, category, last, some)),
      ),

    categoriesOf: ({ site, kind, id }, after, limit) =>
      readPages<CategoryId, number>(
        after,
        limit,
        (last, some) =>
          read(() =>
            statements[kind].ofObject.all(site, id, last, some).map((row) => Number(row['category']) as CategoryId),
          ),
        (category) => category,
      ),

    countCategoriesOf: ({ site, kind, id }, after, limit) =>
      countPages(after, limit, (last, some) => read(() => statements[kind].countOfObject.get(site, id, last, some))),
  } satisfies Partial<CategoryLinks>
}

type PutLink = (list: LinkList, id: number, displayable: boolean | undefined) => boolean

const createObjectLinks = (
  connection: DatabaseSync,
  { write, statements }: Deps,
  putLink: PutLink,
  record: RecordChange,
): Pick<CategoryLinks, 'linkObject' | 'unlinkObject'> => {
  const unknownCategories = connection.prepare(
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
    return { outcome: 'categories unknown', ids: new Set(unknown.map((row) => Number(row['id']))) }
  }

  return {
    linkObject: (object, wanted, entry, deadline = unlimited) =>
      write((): ObjectLinkOutcome => {
        deadline.check()
        const refused = refusal(object, [...wanted.keys()])
        if (refused) return refused
        const { site, kind, id } = object
        const changed = [...wanted].filter(([category, displayable]) =>
          putLink({ site, kind, category }, id, displayable),
        )
        if (changed.length > 0) record(entry)
        return { outcome: 'done' }
      }),

    unlinkObject: (object, categories, entry, deadline = unlimited) =>
      write((): ObjectLinkOutcome => {
        deadline.check()
        const refused = refusal(object, categories)
        if (refused) return refused
        const { site, kind, id } = object
        statements[kind].removeOfObject.run(site, id, JSON.stringify(categories))
        record(entry)
        return { outcome: 'done' }
      }),
  }
}

export const createCategoryLinks = ({ connection, read, write }: Database, record: RecordChange): CategoryLinks => {
  const statements = byName(objectKindNames, (kind) => linkStatements(connection, kind))
  const deps = { read, write, statements }
  const category = connection.prepare('SELECT 1 FROM categories WHERE site = ? AND id = ? AND going = 0')

  const putLink: PutLink = ({ site, kind, category: id }, object, displayable) => {
    const { put, add } = statements[kind]
    const { changes } =
      displayable === undefined ? add.run(site, id, object) : put.run(site, id, object, displayable ? 1 : 0)
    return changes === 1
  }

  return {
    ...createQueries(deps),
    ...createObjectLinks(connection, deps, putLink, record),

    link: (list, wanted, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        if (!category.get(list.site, list.category)) return { outcome: 'category unknown' }
        const unknown = statements[list.kind].unknown.all(list.site, JSON.stringify([...wanted.keys()]))
        if (unknown.length > 0) return { outcome: 'objects unknown', ids: new Set(unknown.map(({ id }) => Number(id))) }
        const changed = [...wanted].filter(([id, displayable]) => putLink(list, id, displayable))
        if (changed.length > 0) record(entry)
        return { outcome: 'linked' }
      }),

    unlink: ({ site, kind, category: id }, ids, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        if (!category.get(site, id)) return false
        statements[kind].remove.run(site, id, JSON.stringify(ids))
        record(entry)
        return true
      }),
  }
}
