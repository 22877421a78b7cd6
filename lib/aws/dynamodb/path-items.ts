import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { root, type StoragePath, toStoragePath } from '../../storage/path.ts'
import { type Query, queryPages, type Table } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'

/**
 * The table PathLocks has four kinds of items, by prefix of the sort key: running workflows, removals and holds of
 * folders, and records of past removals. All reads are consistent.
 */
type Prefix = 'workflow#' | 'removal#' | 'removed#'

const keyed = (prefix: Prefix) => (path: StoragePath) => `${prefix}${path}`
export const workflowKey = keyed('workflow#')
export const removalKey = keyed('removal#')
export const recordKey = keyed('removed#')

interface PathItem {
  readonly site: number
  readonly path: string
}

export interface WorkflowItem extends PathItem {
  readonly mark: string
}

/** A removal, or a hold while a folder is restored. Moments are epoch milliseconds unless named otherwise. */
export interface RemovalItem extends PathItem {
  readonly id: string
  readonly closed: boolean
  // Only holds: they end by themselves at `until`.
  readonly hold?: boolean
  // The end of the hold, or of the worker's lease.
  readonly until?: number
  // The worker with the lease.
  readonly holder?: string
  // The mark of the call that took the lease or closed the removal.
  readonly mark?: string
  // The last sign of life of a worker.
  readonly heard?: number
  // The history entry of the removal, and how many objects its workers have removed.
  readonly entry?: HistoryEntry
  readonly removed?: number
  readonly began?: number
  // Epoch seconds.
  readonly expires?: number
}

/** The last removal of a folder, and the one that has begun. In epoch milliseconds. */
export interface RecordItem extends PathItem {
  readonly from?: number
  readonly to?: number
  readonly pending?: number
  readonly until?: number
}

export const pathOf = ({ path }: PathItem): StoragePath => toStoragePath(path.slice(path.indexOf('#') + 1))

export const readItems = <Item extends PathItem>(table: Table<Item>, site: SiteId, keys: readonly string[]) =>
  batchGet(
    table,
    [...new Set(keys)].map((path) => ({ site, path })),
  )

export const isAnyBelow = async <Item extends PathItem>(
  table: Table<Item>,
  { site, folder, key }: { readonly site: SiteId; readonly folder: StoragePath; readonly key: string },
  { filter, values }: Partial<Pick<Query, 'filter' | 'values'>> = {},
): Promise<boolean> => {
  const pages = queryPages(table, {
    where: '#site = :site AND begins_with(#path, :prefix)',
    values: { ':site': site, ':prefix': folder === root ? key : `${key}/`, ...values },
    ...(filter !== undefined && { filter }),
    consistent: true,
  })
  for await (const { items } of pages) if (items.length > 0) return true
  return false
}
