import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { root, type StoragePath, storedPath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/path-locks.ts'
import { expression, openTable, type Query, queryItems, queryPages, type Table } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { putMarked } from './write-mark.ts'

/**
 * The table PathLocks has four kinds of items, each with a prefix of the sort key: running workflows, removals of
 * folders, restore locks of folders, and records of past removals. All reads are consistent.
 */
const workflowKey = (page: StoragePath) => `workflow#${page}`
export const removalKey = (folder: StoragePath) => `removal#${folder}`
export const recordKey = (folder: StoragePath) => `removed#${folder}`

export interface PathItem {
  readonly site: number
  readonly path: string
}

/**
 * A removal, or a lock while a folder is restored. The lock ends at `until`, even without a call. `holder` has the
 * lease of a removal until then; `heartbeat` is the time of the last call of the holder. Moments are in epoch
 * milliseconds, `expires` is in seconds.
 */
export interface RemovalItem extends PathItem {
  readonly id: string
  readonly closed: boolean
  readonly lock?: boolean
  readonly until?: number
  readonly holder?: string
  readonly mark?: string
  readonly heartbeat?: number
  readonly entry?: HistoryEntry
  readonly removed?: number
  readonly began?: number
  // Nothing up to the key `after` is left. `progressed` is the time of the last removed object, or of the first
  // attempt.
  readonly after?: string
  readonly progressed?: number
  readonly attempts?: number
  readonly expires?: number
}

export interface RecordItem extends PathItem {
  readonly from?: number
  readonly to?: number
  readonly pending?: number
  readonly until?: number
}

export const pathOf = ({ path }: PathItem): StoragePath => storedPath(path.slice(path.indexOf('#') + 1))

export const getItems = <Item extends PathItem>(table: Table<Item>, site: SiteId, paths: readonly string[]) => {
  const keys = [...new Set(paths)].map((path) => ({ site, path }))
  return batchGet(table, keys)
}

export const isAnyBelow = async <Item extends PathItem>(
  table: Table<Item>,
  site: SiteId,
  keyOf: (path: StoragePath) => string,
  folder: StoragePath,
  filter?: Query['filter'],
): Promise<boolean> => {
  const prefix = folder === root ? keyOf(root) : `${keyOf(folder)}/`
  const where = expression`#site = ${site} AND begins_with(#path, ${prefix})`
  const pages = queryPages(table, { where, filter, consistent: true })
  for await (const { items } of pages) if (items.length > 0) return true
  return false
}

// The bounds of a list: no path contains a control character, and `$` is the character after `#`.
const justAfter = (key: string) => `${key}\u0001`
const afterWorkflows = 'workflow$'

export const createWorkflows = ({ record, ...options }: RecordingOptions): Workflows => {
  const table = openTable<PathItem & { readonly mark?: string }>(options)
  const keyOf = (site: number, page: StoragePath) => ({ site, path: workflowKey(page) })

  const list = async (site: number, after: StoragePath | undefined, limit: number): Promise<StoragePath[]> => {
    const first = justAfter(workflowKey(after ?? root))
    const where = expression`#site = ${site} AND #path BETWEEN ${first} AND ${afterWorkflows}`
    return (await queryItems(table, { where, consistent: true }, limit)).map(pathOf)
  }

  return {
    async start(site, page, entry) {
      const key = keyOf(site, page)
      const isStarted = await putMarked(table, key, key, expression`attribute_not_exists(#path)`)
      await recordIf(isStarted, record, entry)
    },

    end: async (site, page, entry) => recordIf(await table.remove(keyOf(site, page)), record, entry),

    isRunning: async (site, pages) => (await getItems(table, site, pages.map(workflowKey))).length > 0,

    isRunningBelow: (site, folder) => isAnyBelow(table, site, workflowKey, folder),

    list,

    async clear(site) {
      for (const page of await list(site, undefined, Number.POSITIVE_INFINITY)) await table.take(keyOf(site, page))
    },
  }
}
