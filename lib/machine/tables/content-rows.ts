import type { DatabaseSync } from 'node:sqlite'
import type { Content } from '../../categories/contents.ts'
import { type ContentKind, contentMembers, textMember } from '../../core/content-kinds.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Scalars } from '../../core/object-kinds.ts'
import { type AnyId, all, type CountedRows, exists, one, prepareAll } from '../sqlite/queries.ts'
import { contentTables, isNotBeingRemoved } from '../sqlite/tables.ts'

export interface ContentRow {
  readonly members: string
}

interface Id {
  readonly id: number
}

const prepareTexts = (connection: DatabaseSync, texts: string) =>
  prepareAll(connection, {
    some: all<{ id: number; text: string }>(
      `SELECT id, text FROM ${texts} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2))`,
    ),
    isThere: exists(`SELECT 1 FROM ${texts} WHERE site = ? AND id = ? AND text = ?`),
    put: `INSERT OR REPLACE INTO ${texts} (site, id, text) VALUES (?, ?, ?)`,
  })

/** In each statement, the first parameter is the site. Lists of ids are JSON. */
export const prepareContents = (connection: DatabaseSync, kind: ContentKind) => {
  const { table, texts } = contentTables[kind]
  const staying = isNotBeingRemoved(`${table}.id`, kind)
  const isOne = 'site = ?1 AND id IN (SELECT value FROM json_each(?2))'
  return {
    ...prepareAll(connection, {
      get: one<ContentRow>(`SELECT members FROM ${table} WHERE site = ?1 AND id = ?2 AND going = 0`),
      these: all<ContentRow>(`SELECT members FROM ${table} WHERE ${isOne} AND going = 0`),
      behind: all<ContentRow>(
        `SELECT members FROM ${table} WHERE site = ?1 AND id > ?2 AND going = 0 ORDER BY id LIMIT +?3`,
      ),
      existing: all<Id>(`SELECT id FROM ${table} WHERE ${isOne} AND ${staying}`),
      marked: all<Id>(`SELECT id FROM ${table} WHERE ${isOne} AND going = 1`),
      count: one<CountedRows>(`SELECT count(*) AS count, max(id) AS last
        FROM (SELECT id FROM ${table} WHERE site = ?1 AND id > ?2 AND ${staying} ORDER BY id LIMIT +?3)`),
      highest: one<AnyId>(`SELECT max(id) AS id FROM ${table} WHERE site = ?1`),
      insert: `INSERT INTO ${table} (site, id, members) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
      put: `INSERT INTO ${table} (site, id, members) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET members = excluded.members`,
    }),
    texts: texts === undefined ? undefined : prepareTexts(connection, texts),
  }
}

/** JSON without the long text, and without the members that are the same for all content of a site. */
export const membersToKeep = (content: Content, kind: ContentKind): string => {
  const text = textMember(kind)
  return JSON.stringify(
    Object.fromEntries(Object.entries(content).filter(([name]) => name !== text && name !== 'siteId')),
  )
}

const emptyOf = (kind: ContentKind): Scalars => {
  const members = contentMembers[kind]
  const names = Object.keys(members).filter((name) => members[name]?.type !== 'text')
  return Object.fromEntries(names.map((name) => [name, null]))
}

/**
 * Missing members are null. Lists have thousands of these rows: spreading objects takes half the time of a loop over
 * their members.
 */
export const contentReader = (site: SiteId, kind: ContentKind): ((row: ContentRow) => Content) => {
  const empty = emptyOf(kind)
  const known = Object.hasOwn(empty, 'siteId') ? { siteId: site } : {}
  return ({ members }) => ({ ...empty, ...JSON.parse(members), ...known })
}
