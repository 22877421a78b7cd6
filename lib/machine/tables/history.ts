import { EventEmitter } from 'node:events'
import type { DatabaseSync } from 'node:sqlite'
import { type Change, type HistoryEntry, storedChangeType } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { History } from '../../history/history.ts'
import type { Database } from '../sqlite/database.ts'
import { all, fromRow, prepareAll, readPages, run, value } from '../sqlite/queries.ts'

/** Runs in the transaction of the change, so that both become visible, or neither. */
export type RecordChange = (entry: HistoryEntry) => void

// Positions are the microseconds of their moment, unless this moment was used, or the clock was set back. So new ids are
// larger than the ids of a restored backup, and the entry of a removal is not older than the removed objects.
const perMillisecond = 1_000

export const createRecorder = (connection: DatabaseSync, now: () => number, watch?: ChangeWatch): RecordChange => {
  const insert = run(
    `INSERT INTO changes (id, site, at, type, subject, actor, request, details)
     VALUES (max(?1 * ${perMillisecond}, 1 + coalesce((SELECT max(id) FROM changes WHERE site = ?2), 0),
       coalesce((SELECT max(gone) FROM old_objects), 0)), ?2, ?1, ?3, ?4, ?5, ?6, ?7)`,
  )(connection)
  return ({ site, type, subject, actor, requestId, details }) => {
    insert(now(), site, type, subject, actor, requestId, details)
    watch?.wrote(site)
  }
}

export const recordIf = (isMade: unknown, record: RecordChange, ...entries: readonly HistoryEntry[]): boolean => {
  if (isMade) entries.forEach(record)
  return Boolean(isMade)
}

const columns = 'site, id AS position, at, type, subject, actor, request AS requestId, details'

const toChange = fromRow<Change>({ type: storedChangeType, details: JSON.parse })

const positionOf = ({ position }: Change): number => position

/** SQLite runs one write transaction at a time, so positions become visible in their order. */
export const createHistory = (database: Database, { watch } = createChangeWatch(database)): History => {
  const changes = prepareAll(database.connection, {
    after: all(`SELECT ${columns} FROM changes WHERE site = ? AND id > ? ORDER BY id LIMIT +?`, toChange),
    before: all(`SELECT ${columns} FROM changes WHERE site = ? AND id < ? ORDER BY id DESC LIMIT +?`, toChange),
  })
  return {
    watch,

    after: (site, position, limit) => readPages(database.read, changes.after, [site, position], positionOf, limit),

    before: async (site, position = Number.MAX_SAFE_INTEGER, limit) =>
      (await readPages(database.read, changes.before, [site, position], positionOf, limit)).toReversed(),
  }
}

// In milliseconds: changes of other processes are noticed after this time.
const period = 500

export const webhookChanges = 'webhooks'

type Watched = SiteId | typeof webhookChanges

/**
 * Knows when the history of a site may have grown (V-18, V-22). An entry is reported after its transaction, because a
 * transaction runs without pauses. A transaction that fails may be reported too.
 */
export const createChangeWatch = ({ connection, read }: Database) => {
  const changes = new EventEmitter().setMaxListeners(0)
  const version = value<number>('PRAGMA data_version')(connection)
  let known: number | undefined
  let timer: NodeJS.Timeout | undefined

  const lookForOthers = (): void => {
    read(() => {
      const present = version()
      if (known !== undefined && present !== known) for (const site of changes.eventNames()) changes.emit(site)
      known = present
    }).catch(() => {})
  }

  return {
    wrote(site: Watched): void {
      queueMicrotask(() => changes.emit(String(site)))
    },

    watch(site: Watched, check: () => void): () => void {
      changes.on(String(site), check)
      if (!timer) {
        lookForOthers()
        timer = setInterval(lookForOthers, period).unref()
      }
      return () => {
        changes.off(String(site), check)
        if (changes.eventNames().length > 0) return
        clearInterval(timer)
        timer = undefined
        known = undefined
      }
    },
  }
}

export type ChangeWatch = ReturnType<typeof createChangeWatch>
