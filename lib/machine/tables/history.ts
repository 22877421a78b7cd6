import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type HistoryEntry, readChangeType } from '../../core/history-entry.ts'
import { storedId } from '../../core/ids.ts'
import { type Change, type History, keptFor } from '../../history/history.ts'
import type { Database } from '../sqlite/database.ts'
import { readPages } from '../sqlite/paging.ts'

/** Runs within the transaction of the change: both become visible, or neither. */
export type RecordChange = (entry: HistoryEntry) => void

/** Positions are microseconds unless several entries share one, so that ids go on behind those of a restored backup. */
const perMillisecond = 1_000

export const createRecorder = (connection: DatabaseSync, now: () => number): RecordChange => {
  const insert = connection.prepare(
    `INSERT INTO changes (id, site, at, type, subject, actor, request, details)
     VALUES (max(?1 * ${perMillisecond}, 1 + coalesce((SELECT max(id) FROM changes WHERE site = ?2), 0)),
       ?2, ?1, ?3, ?4, ?5, ?6, ?7)`,
  )
  return ({ site, type, subject, actor, requestId, details }) => {
    insert.run(now(), site, type, subject, actor, requestId ?? null, details ? JSON.stringify(details) : null)
  }
}

const toChange = (row: Readonly<Record<string, SQLOutputValue>>): Change => {
  const type = readChangeType(String(row['type']))
  if (!type) throw new Error(`There is no change of the type ${row['type']}`)
  return {
    position: Number(row['id']),
    at: Number(row['at']),
    site: storedId(row['site']),
    type,
    subject: String(row['subject']),
    actor: String(row['actor']),
    ...(row['request'] !== null && { requestId: String(row['request']) }),
    ...(row['details'] !== null && { details: JSON.parse(String(row['details'])) }),
  }
}

/** SQLite writes one transaction after the other: positions become visible in their order. */
export const createHistory = ({ connection, read }: Pick<Database, 'connection' | 'read'>): History => {
  const behind = connection.prepare('SELECT * FROM changes WHERE site = ? AND id > ? ORDER BY id LIMIT +?')
  const last = connection.prepare('SELECT * FROM changes WHERE site = ? AND id < ? ORDER BY id DESC LIMIT +?')
  return {
    after: (site, position, limit) =>
      readPages(
        position,
        limit,
        (from, some) => read(() => behind.all(site, from, some).map(toChange)),
        (change) => change.position,
      ),

    async before(site, position = Number.MAX_SAFE_INTEGER, limit) {
      const newestFirst = await readPages(
        position,
        limit,
        (from, some) => read(() => last.all(site, from, some).map(toChange)),
        (change) => change.position,
      )
      return newestFirst.toReversed()
    },
  }
}

const slice = 2_000

export const createHistorySweep = (
  { connection, read, write }: Pick<Database, 'connection' | 'read' | 'write'>,
  now: () => number,
): (() => Promise<void>) => {
  const nextSite = connection.prepare('SELECT min(site) AS site FROM changes WHERE site > ?')
  const remove = connection.prepare(
    `DELETE FROM changes WHERE site = ?1
       AND id IN (SELECT id FROM changes WHERE site = ?1 AND id < ?2 ORDER BY id LIMIT +?3)`,
  )
  const siteBehind = (site: number) => read(() => nextSite.get(site)?.['site'] ?? undefined)
  return async () => {
    const oldest = (now() - keptFor) * perMillisecond
    for (let site = await siteBehind(0); site !== undefined; site = await siteBehind(Number(site))) {
      const ofSite = site
      while ((await write(() => remove.run(ofSite, oldest, slice).changes)) === slice);
    }
  }
}
