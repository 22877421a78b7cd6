import { root, type StoragePath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/path-locks.ts'
import { expression, openTable, queryItems } from './dynamodb.ts'
import { createFolderRemovals, type LockOptions } from './folder-removals.ts'
import { recordIf } from './journal.ts'
import { getItems, isAnyBelow, pathOf, type WorkflowItem, workflowKey } from './path-items.ts'
import { putMarked } from './write-mark.ts'

// The end of the keys `workflow#…`, because `$` is the character after `#`.
const afterWorkflows = 'workflow$'
// This text sorts after every path, because no path contains a control character.
const justAfter = (key: string) => `${key}\u0001`

const createWorkflows = ({ record, ...options }: LockOptions): Workflows => {
  const table = openTable<WorkflowItem>(options)
  const keyOf = (site: number, page: StoragePath) => ({ site, path: workflowKey(page) })

  const list = async (site: number, after: StoragePath | undefined, limit: number): Promise<StoragePath[]> => {
    const first = justAfter(workflowKey(after ?? root))
    const where = expression`#site = ${site} AND #path BETWEEN ${first} AND ${afterWorkflows}`
    return (await queryItems(table, { where, consistent: true }, limit)).map(pathOf)
  }

  return {
    async start(site, page, entry) {
      const key = keyOf(site, page)
      const isStarted = await putMarked(table, key, key, { condition: expression`attribute_not_exists(#path)` })
      await recordIf(isStarted, record, entry)
    },

    end: async (site, page, entry) => recordIf(await table.remove(keyOf(site, page)), record, entry),

    isRunning: async (site, pages) => (await getItems(table, site, pages.map(workflowKey))).length > 0,

    isRunningBelow: (site, folder) => isAnyBelow(table, { site, folder, key: workflowKey(folder) }),

    list,

    async clear(site) {
      for (const page of await list(site, undefined, Number.POSITIVE_INFINITY)) await table.take(keyOf(site, page))
    },
  }
}

export const createPathLocks = (options: LockOptions) => ({
  workflows: createWorkflows(options),
  removals: createFolderRemovals(options),
})

export type PathLocks = ReturnType<typeof createPathLocks>
