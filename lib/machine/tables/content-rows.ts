import type { DatabaseSync } from 'node:sqlite'
import type { ContentKind } from '../../core/content-kinds.ts'
import type { Scalars } from '../../core/object-kinds.ts'
import { type AnyId, all, type CountedRows, exists, one, prepareAll } from '../sqlite/queries.ts'
import { contentTables, isNotBeingRemoved } from '../sqlite/tables.ts'

const toMembers = ({ members }: { readonly members: string }): Scalars => JSON.parse(members)

interface Id {
  readonly id: number
}

const idOf = ({ id }: Id): number => id

const prepareTexts = (connection: DatabaseSync, texts: string) =>
  prepareAll(connection, {
    some: all(
      `SELECT id, text FROM ${texts} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2))`,
      ({ id, text }: Id & { readonly text: string }) => [id, text] as const,
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
      get: one(`SELECT members FROM ${table} WHERE site = ?1 AND id = ?2 AND going = 0`, toMembers),
      these: all(`SELECT members FROM ${table} WHERE ${isOne} AND going = 0`, toMembers),
      behind: all(
        `SELECT members FROM ${table} WHERE site = ?1 AND id > ?2 AND going = 0 ORDER BY id LIMIT +?3`,
        toMembers,
      ),
      existing: all(`SELECT id FROM ${table} WHERE ${isOne} AND ${staying}`, idOf),
      marked: all(`SELECT id FROM ${table} WHERE ${isOne} AND going = 1`, idOf),
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
