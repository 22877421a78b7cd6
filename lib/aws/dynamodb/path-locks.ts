import type { SiteId } from '../../core/ids.ts'
import { root, type StoragePath, storedPath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/path-locks.ts'
import { expression, openTable, type Query, queryItems, queryPages, type Table } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { putMarked } from './write-mark.ts'

const workflowKey = (page: StoragePath) => `workflow#${page}`

/**
 * The table PathLocks: running workflows, removals and restore locks of folders (which share a key), records of past
 * removals, and the used bytes of a site (`usage-counts.ts`). All reads are consistent.
 */
export interface PathItem {
  readonly site: number
  readonly path: string
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

  const list = async (site: number, after = root, limit = Number.POSITIVE_INFINITY): Promise<StoragePath[]> => {
    const first = justAfter(workflowKey(after))
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
      for (const page of await list(site)) await table.take(keyOf(site, page))
    },
  }
}
