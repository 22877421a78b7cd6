import type { DatabaseSync } from 'node:sqlite'
import { type Content, type Contents, contentReader, type Edit, storedMembers } from '../../categories/contents.ts'
import { type ContentKind, contentKinds, givenText, isSameContent } from '../../core/content-kinds.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { byName } from '../../core/names.ts'
import type { Database } from '../sqlite/database.ts'
import {
  all,
  allArrays,
  type CountedRows,
  column,
  countPages,
  exists,
  idOf,
  one,
  prepareAll,
  readPages,
  value,
} from '../sqlite/queries.ts'
import { contentTables, isNotBeingRemoved } from '../sqlite/tables.ts'
import { createContentRemovals } from './content-removals.ts'
import { type RecordChange, recordIf } from './history.ts'

const toMembers = ({ members }: { readonly members: string }): Content => JSON.parse(members)

const prepareTexts = (connection: DatabaseSync, texts: string) =>
  prepareAll(connection, {
    some: allArrays(
      `SELECT id, text FROM ${texts} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2))`,
      (row: readonly [id: number, text: string]) => row,
    ),
    isThere: exists(`SELECT 1 FROM ${texts} WHERE site = ? AND id = ? AND text = ?`),
    put: `INSERT OR REPLACE INTO ${texts} (site, id, text) VALUES (?, ?, ?)`,
  })

const prepareContents = (connection: DatabaseSync, kind: ContentKind) => {
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
      existing: column<number>(`SELECT id FROM ${table} WHERE ${isOne} AND ${staying}`),
      marked: column<number>(`SELECT id FROM ${table} WHERE ${isOne} AND going = 1`),
      count: one<CountedRows>(`SELECT count(*) AS count, max(id) AS last
        FROM (SELECT id FROM ${table} WHERE site = ?1 AND id > ?2 AND ${staying} ORDER BY id LIMIT +?3)`),
      highest: value<number | null>(`SELECT max(id) FROM ${table} WHERE site = ?1`),
      insert: `INSERT INTO ${table} (site, id, members) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
      put: `INSERT INTO ${table} (site, id, members) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET members = excluded.members`,
    }),
    texts: texts === undefined ? undefined : prepareTexts(connection, texts),
  }
}

// The numbers of items, and of characters in their texts, in one transaction, so that other requests wait only briefly.
const mostEntries = 500
const mostText = 1_000_000

const textOf = (content: Content | undefined, kind: ContentKind): string => (content && givenText(kind, content)) ?? ''

const createChange = (statements: Record<ContentKind, ReturnType<typeof prepareContents>>, record: RecordChange) => {
  const putDifference = (site: SiteId, kind: ContentKind, stored: Content | undefined, content: Content): boolean => {
    const { put, texts } = statements[kind]
    const isOther = !stored || !isSameContent(kind, stored, content)
    if (isOther) put(site, content.id, storedMembers(content, kind))
    const text = stored ? givenText(kind, content) : textOf(content, kind)
    if (text === undefined || !texts || (stored && texts.isThere(site, content.id, text))) return isOther
    texts.put(site, content.id, text)
    return true
  }

  return (site: SiteId, kind: ContentKind, ids: readonly number[], apply: Edit, entry?: HistoryEntry) => {
    const marked = statements[kind].marked(site, ids)
    if (marked.length > 0) return { done: 0, changed: 0, marked }
    const toContent = contentReader(site, kind)
    let done = 0
    let changed = 0
    let left = mostText
    for (const id of ids) {
      if (left <= 0) break
      done += 1
      const row = statements[kind].get(site, id)
      const stored = row && toContent(row)
      const content = apply(stored, id)
      left -= textOf(content, kind).length
      if (content && putDifference(site, kind, stored, content)) changed += 1
    }
    if (changed > 0 && entry) record(entry)
    return { done, changed, marked }
  }
}

export const createContents = (database: Database, record: RecordChange) => {
  const { connection, read, write } = database
  const removals = createContentRemovals(database, record)
  const statements = byName(contentKinds, (kind) => prepareContents(connection, kind))
  const change = createChange(statements, record)
  // The state counts the commits of other connections, and also the changes of this connection, which the data version
  // of SQLite does not count.
  const version = value<number>('PRAGMA data_version')(connection)
  const changes = value<number>('SELECT total_changes()')(connection)

  const changeMany: Contents['changeMany'] = async (site, kind, ids, apply, entry) => {
    let changed = 0
    for (let from = 0; from < ids.length; ) {
      const some = ids.slice(from, from + mostEntries)
      const isFirst = changed === 0
      const step = await write(() => change(site, kind, some, apply, isFirst ? entry : undefined))
      for (const id of step.marked) await removals.finishRemoval(site, kind, id)
      changed += step.changed
      from += step.done
    }
    return changed
  }

  return {
    state: () => read(() => `${version()}.${changes()}`),

    async get(site, kind, id) {
      const row = await read(() => statements[kind].get(site, id))
      return row && contentReader(site, kind)(row)
    },

    async getMany(site, kind, ids) {
      const rows = await read(() => statements[kind].these(site, ids))
      return new Map(rows.map(contentReader(site, kind)).map((content) => [content.id, content]))
    },

    async existing(site, kind, ids) {
      return new Set(await read(() => statements[kind].existing(site, ids)))
    },

    async texts(site, kind, ids) {
      const some = statements[kind].texts?.some
      return new Map(some && (await read(() => some(site, ids))))
    },

    async list(site, kind, after, limit) {
      const rows = await readPages(read, statements[kind].behind, [site, after], idOf, limit)
      return rows.map(contentReader(site, kind)).map((content) => ({ id: content.id, content }))
    },

    count: (site, kind, after, limit) => countPages(read, statements[kind].count, [site, after], limit),

    highestId: (site, kind) => read(() => statements[kind].highest(site) ?? 0),

    create: (site, kind, content, entry) =>
      write(() => {
        const isNew = statements[kind].insert(site, content.id, storedMembers(content, kind)) === 1
        if (isNew) statements[kind].texts?.put(site, content.id, textOf(content, kind))
        return recordIf(isNew, record, entry)
      }),

    changeMany,

    async putMany(site, kind, contents, entry) {
      const byId = new Map(contents.map((content) => [content.id, content]))
      await changeMany(site, kind, [...byId.keys()], (_, id) => byId.get(id), entry)
    },

    ...removals,
  } satisfies Contents & Readonly<Record<string, unknown>>
}
