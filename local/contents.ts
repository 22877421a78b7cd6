import type { DatabaseSync } from 'node:sqlite'
import { byName } from '../lib/by-name.ts'
import { type ContentKind, contentKinds, contentMembers, textMember } from '../lib/categories/content-kinds.ts'
import type { Content, Contents } from '../lib/categories/contents.ts'
import type { Scalars } from '../lib/categories/query/item-shape.ts'
import type { HistoryEntry } from '../lib/history-entry.ts'
import type { SiteId } from '../lib/ids.ts'
import { createContentRemovals } from './content-removals.ts'
import type { Database } from './database.ts'
import type { RecordChange } from './history.ts'
import { countInSteps, inPieces, readInSteps } from './in-steps.ts'
import { contentTables, isStaying } from './schema.ts'

const textStatements = (connection: DatabaseSync, texts: string) => ({
  some: connection.prepare(`SELECT id, text FROM ${texts} WHERE site = ?1 AND id IN (SELECT value FROM json_each(?2))`),
  put: connection.prepare(`INSERT OR REPLACE INTO ${texts} (site, id, text) VALUES (?, ?, ?)`),
})

/** What is asked of the content of one kind. The first parameter is the site, lists of ids are JSON. */
const contentStatements = (connection: DatabaseSync, kind: ContentKind) => {
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

/** What is kept of content as JSON: not its long text, and not what is the same for all content of a site. */
const membersToKeep = (content: Content, kind: ContentKind): string => {
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
 * Makes content of what is kept of it: whatever its kind has, null where nothing is kept. Lists are made of thousands of these, and to spread
 * objects takes half the time that going over their members does.
 */
const contentReader = (site: SiteId, kind: ContentKind): ((kept: string) => Content) => {
  const empty = emptyOf(kind)
  const known = Object.hasOwn(empty, 'siteId') ? { siteId: site } : {}
  return (kept) => ({ ...empty, ...JSON.parse(kept), ...known })
}

/** How much is stored in one transaction at most, so that nobody waits for long: entries, and characters of their texts. */
const mostEntries = 500
const mostText = 1_000_000

const textOf = (content: Content, kind: ContentKind): string => {
  const member = textMember(kind)
  return member === undefined ? '' : String(content[member] ?? '')
}

/** Pieces of which each is stored in one transaction. */
const piecesOf = (contents: readonly Content[], kind: ContentKind): Content[][] => {
  const pieces: Content[][] = []
  let left = 0
  for (const content of contents) {
    const { length } = textOf(content, kind)
    const piece = pieces.at(-1)
    if (!piece || piece.length === mostEntries || length > left) {
      pieces.push([content])
      left = mostText - length
    } else {
      piece.push(content)
      left -= length
    }
  }
  return pieces
}

/** The categories, news items and blogs of the sites, on one machine. */
export const createContents = (database: Database, record: RecordChange): Contents => {
  const { connection, read, write } = database
  const removals = createContentRemovals(database, record)
  const statements = byName(contentKinds, (kind) => contentStatements(connection, kind))

  const reader = (site: SiteId, kind: ContentKind) => {
    const read = contentReader(site, kind)
    return (row: Readonly<Record<string, unknown>>) => read(String(row['members']))
  }

  const put = (site: SiteId, kind: ContentKind, content: Content) => {
    statements[kind].put.run(site, content.id, membersToKeep(content, kind))
    statements[kind].texts?.put.run(site, content.id, textOf(content, kind))
  }

  /** Answers which of them are being removed: nothing is stored then. */
  const putPiece = (site: SiteId, kind: ContentKind, piece: readonly Content[], entry?: HistoryEntry): number[] => {
    const going = statements[kind].going.all(site, JSON.stringify(piece.map(({ id }) => id)))
    if (going.length === 0) {
      for (const content of piece) put(site, kind, content)
      if (entry) record(entry)
    }
    return going.map(({ id }) => Number(id))
  }

  // What other connections have committed, and what this one has written itself, which the version does not count.
  const version = connection.prepare('PRAGMA data_version')
  const changes = connection.prepare('SELECT total_changes() AS changes')

  return {
    state: () => read(() => `${version.get()?.['data_version']}.${changes.get()?.['changes']}`),

    async get(site, kind, id) {
      const row = await read(() => statements[kind].get.get(site, id))
      return row && reader(site, kind)(row)
    },

    async getMany(site, kind, ids) {
      const contents = new Map<number, Content>()
      await inPieces(ids, async (piece) => {
        const rows = await read(() => statements[kind].these.all(site, JSON.stringify(piece)))
        for (const content of rows.map(reader(site, kind))) contents.set(content.id, content)
      })
      return contents
    },

    async existing(site, kind, ids) {
      const existing = new Set<number>()
      await inPieces(ids, async (piece) => {
        const rows = await read(() => statements[kind].existing.all(site, JSON.stringify(piece)))
        for (const { id } of rows) existing.add(Number(id))
      })
      return existing
    },

    async texts(site, kind, ids) {
      const texts = new Map<number, string>()
      const some = statements[kind].texts?.some
      if (!some) return texts
      await inPieces(ids, async (piece) => {
        const rows = await read(() => some.all(site, JSON.stringify(piece)))
        for (const { id, text } of rows) texts.set(Number(id), String(text))
      })
      return texts
    },

    list: (site, kind, after, limit) =>
      readInSteps(
        after,
        limit,
        async (last, some) => {
          const contents = (await read(() => statements[kind].behind.all(site, last, some))).map(reader(site, kind))
          return contents.map((content) => ({ id: content.id, content }))
        },
        ({ id }) => id,
      ),

    count: (site, kind, after, limit) =>
      countInSteps(after, limit, (last, some) => read(() => statements[kind].count.get(site, last, some))),

    highestId: (site, kind) => read(() => Number(statements[kind].highest.get(site)?.['id'] ?? 0)),

    create: (site, kind, content, entry) =>
      write(() => {
        const members = membersToKeep(content, kind)
        if (statements[kind].insert.run(site, content.id, members).changes === 0) return false
        statements[kind].texts?.put.run(site, content.id, textOf(content, kind))
        record(entry)
        return true
      }),

    async putMany(site, kind, contents, entry) {
      for (const [index, piece] of piecesOf(contents, kind).entries()) {
        for (;;) {
          // With the first of them: nothing is stored without a word of it.
          const going = await write(() => putPiece(site, kind, piece, index === 0 ? entry : undefined))
          if (going.length === 0) break
          for (const id of going) await removals.finish({ site, kind, id })
        }
      }
    },

    removeObject: (object, entry) => removals.remove(object, entry),
    removeCategory: (site, id, entry) => removals.remove({ site, kind: 'category', id }, entry),
  }
}

/** Completes what a process that was killed has left of the removals of content. */
export const finishRemovals = (database: Database): Promise<void> =>
  // Each of them was written down when it began.
  createContentRemovals(database, () => {}).finishAll()
