import type { DatabaseSync } from 'node:sqlite'
import type { ContentKind } from '../lib/categories/content-kinds.ts'
import { contentTables, isStaying } from './schema.ts'

const textStatements = (connection: DatabaseSync, texts: string) => ({
  some: connection.prepare(`SELECT id, text FROM ${texts} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2))`),
  put: connection.prepare(`INSERT OR REPLACE INTO ${texts} (site, id, text) VALUES (?, ?, ?)`),
})

/** What is asked of the content of one kind. The first parameter is the site, lists of ids are JSON. */
export const contentStatements = (connection: DatabaseSync, kind: ContentKind) => {
  const { table, texts } = contentTables[kind]
  const staying = isStaying(`${table}.id`, kind)
  return {
    get: connection.prepare(`SELECT members FROM ${table} WHERE site = ?1 AND id = ?2 AND going = 0`),
    these: connection.prepare(
      `SELECT members FROM ${table} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2)) AND going = 0`,
    ),
    existing: connection.prepare(
      `SELECT id FROM ${table} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2)) AND ${staying}`,
    ),
    going: connection.prepare(
      `SELECT id FROM ${table} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2)) AND going = 1`,
    ),
    behind: connection.prepare(
      `SELECT members FROM ${table} WHERE site = ?1 AND id > ?2 AND going = 0 ORDER BY id LIMIT +?3`,
    ),
    count: connection.prepare(
      `SELECT count(*) AS count, max(id) AS last
       FROM (SELECT id FROM ${table} WHERE site = ?1 AND id > ?2 AND ${staying} ORDER BY id LIMIT +?3)`,
    ),
    highest: connection.prepare(`SELECT max(id) AS id FROM ${table} WHERE site = ?1`),
    insert: connection.prepare(`INSERT INTO ${table} (site, id, members) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
    put: connection.prepare(
      `INSERT INTO ${table} (site, id, members) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET members = excluded.members`,
    ),
    texts: texts === undefined ? undefined : textStatements(connection, texts),
  }
}
