import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { root, type StoragePath, toStoragePath } from '../../storage/path.ts'
import { type Attributes, openTable, queryPage, type TableOptions } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'

/**
 * The table PathLocks has four kinds of items, by prefix of the sort key: running workflows, removals and holds of
 * folders, and records of past removals. All reads are consistent.
 */
const workflowPrefix = 'workflow#'
const removalPrefix = 'removal#'
export const workflowKey = (path: StoragePath) => `${workflowPrefix}${path}`
export const removalKey = (path: StoragePath) => `${removalPrefix}${path}`
export const recordKey = (path: StoragePath) => `removed#${path}`

// `$` follows `#`.
const afterWorkflows = 'workflow$'
// No path has a control character.
const justAfter = (key: string) => `${key}\u0001`

export interface WorkflowItem {
  readonly site: number
  readonly path: string
  // A mark: the writer whose answer was lost recognises its own write.
  readonly id: string
}

/** A removal, or a hold while a folder is restored. Moments are epoch milliseconds unless named otherwise. */
export interface RemovalItem {
  readonly site: number
  readonly path: string
  readonly id: string
  readonly closed: boolean
  // Only holds: they end by themselves at `until`.
  readonly hold?: boolean
  // The end of the hold, or of the worker's lease.
  readonly until?: number
  // The worker with the lease, and the mark of the call that took it.
  readonly holder?: string
  readonly attempt?: string
  // The last sign of life of a worker.
  readonly heard?: number
  // The history entry of the removal, and how many objects its workers have removed.
  readonly entry?: HistoryEntry
  readonly removed?: number
  readonly began?: number
  // The mark of the call that closed it.
  readonly closer?: string
  // Epoch seconds.
  readonly expires?: number
}

/** A removal or hold as callers need it: `isClosed` covers holds that have ended. */
export interface StoredRemoval {
  readonly path: StoragePath
  readonly id: string
  readonly isClosed: boolean
  readonly isHold: boolean
  readonly heard: number
  readonly holder: string
  readonly until: number
  readonly attempt: string
  readonly closer: string
  readonly began: number
  readonly removed: number
  readonly entry: HistoryEntry | undefined
}

const toRemoval = (item: Partial<RemovalItem>, now: number): StoredRemoval => {
  const { path, id, closed, hold, heard, holder, until, attempt, closer, began, removed, entry } = item
  return {
    path: toStoragePath(String(path).slice(removalPrefix.length)),
    id: String(id),
    isClosed: closed === true || (hold === true && Number(until) <= now),
    isHold: hold === true,
    heard: Number(heard ?? 0),
    holder: String(holder ?? ''),
    until: Number(until ?? 0),
    attempt: String(attempt ?? ''),
    closer: String(closer ?? ''),
    began: Number(began ?? 0),
    removed: Number(removed ?? 0),
    entry,
  }
}

export type PathItems = ReturnType<typeof openPathItems>

/** `now` is the wall clock. */
export const openPathItems = (options: TableOptions, now: () => number) => {
  const table = openTable(options)

  const getItems = (site: SiteId, paths: readonly string[]) =>
    batchGet(
      table,
      [...new Set(paths)].map((path) => ({ site, path })),
      { ConsistentRead: true },
    )

  // Removals and holds of these very folders, open or closed.
  const removalsOf = async (site: SiteId, folders: readonly StoragePath[]): Promise<StoredRemoval[]> =>
    (await getItems(site, folders.map(removalKey))).map((item) => toRemoval(item, now()))

  const isAnyBelow = async (
    site: SiteId,
    { key, folder }: { readonly key: string; readonly folder: StoragePath },
    filter?: string,
    values: Attributes = {},
  ): Promise<boolean> => {
    const prefix = folder === root ? key : `${key}/`
    let start: Attributes | undefined
    do {
      const { items, last } = await queryPage(table, {
        where: '#site = :site AND begins_with(#path, :prefix)',
        values: { ':site': site, ':prefix': prefix, ...values },
        filter,
        consistent: true,
        start,
      })
      if (items.length > 0) return true
      start = last
    } while (start)
    return false
  }

  const listWorkflows = async (site: SiteId, after: StoragePath | undefined, limit: number): Promise<StoragePath[]> => {
    const pages: StoragePath[] = []
    for (let from = workflowKey(after ?? root); pages.length < limit; ) {
      const { items, last } = await queryPage(table, {
        where: '#site = :site AND #path BETWEEN :from AND :to',
        values: { ':site': site, ':from': justAfter(from), ':to': afterWorkflows },
        limit: limit - pages.length,
        consistent: true,
      })
      pages.push(...items.map(({ path }) => toStoragePath(String(path).slice(workflowPrefix.length))))
      if (!last) break
      from = String(last['path'])
    }
    return pages
  }

  // Past removals, the newest first. One that has not ended, or failed, hides none that came before it.
  const recordsOf = async (site: SiteId, folders: readonly StoragePath[]) =>
    (await getItems(site, folders.map(recordKey)))
      .flatMap(({ from, to, pending, until = to }) => [[pending, until] as const, [from, to] as const])
      .filter(([from]) => from !== undefined)
      .map(([from, to]) => ({ from: Number(from), to: Number(to) }))
      .sort((one, other) => other.to - one.to)

  const isWorkflowBelow = (site: SiteId, folder: StoragePath) => isAnyBelow(site, { key: workflowKey(folder), folder })

  // Removals and holds that are open.
  const isRemovalBelow = (site: SiteId, folder: StoragePath) =>
    isAnyBelow(
      site,
      { key: removalKey(folder), folder },
      '#closed = :false AND (attribute_not_exists(#hold) OR #until > :now)',
      { ':false': false, ':now': now() },
    )

  return { table, now, getItems, removalsOf, recordsOf, listWorkflows, isWorkflowBelow, isRemovalBelow }
}
