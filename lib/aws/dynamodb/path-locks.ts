import { randomUUID } from 'node:crypto'
import type { StoragePath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/workflows.ts'
import type { TableOptions } from './dynamodb.ts'
import {
  createHolds,
  createLeases,
  createLooks,
  createOpening,
  createRecords,
  type ObservedRemovals,
} from './folder-removals.ts'
import type { RecordChange } from './journal.ts'
import { openPathItems, type PathItems, type WorkflowItem, workflowKey } from './path-items.ts'

const deletedTogether = 100

/** The running workflows of pages. */
const createWorkflows = (items: PathItems, record: RecordChange): Workflows => {
  const { table } = items
  return {
    async start(site, page, entry) {
      const id = randomUUID()
      const before = await table.replace({ site, path: workflowKey(page), id } satisfies WorkflowItem)
      // The SDK may have repeated a call whose answer was lost.
      if (!before || before['id'] === id) await record(entry)
    },

    async end(site, page, entry) {
      if (!(await table.take({ site, path: workflowKey(page) }))) return false
      await record(entry)
      return true
    },

    isRunning: async (site, pages) => (await items.getItems(site, pages.map(workflowKey))).length > 0,

    isRunningBelow: items.isWorkflowBelow,

    list: items.listWorkflows,

    async clear(site) {
      for (let after: StoragePath | undefined; ; ) {
        const pages = await items.listWorkflows(site, after, deletedTogether)
        for (const page of pages) await table.delete({ site, path: workflowKey(page) })
        if (pages.length < deletedTogether) return
        after = pages.at(-1)
      }
    },
  }
}

interface Options extends TableOptions {
  readonly record: RecordChange
  // Days for which removed files are kept.
  readonly keptDays?: number
  // The wall clock.
  readonly now?: () => number
}

export interface PathLocks {
  readonly workflows: Workflows
  readonly removals: ObservedRemovals
}

/** The ports over the table PathLocks. */
export const createPathLocks = ({ record, keptDays = 30, now = Date.now, ...options }: Options): PathLocks => {
  const items = openPathItems(options, now)
  const records = createRecords(items, keptDays)
  const opening = createOpening(items, record, records.note)
  return {
    workflows: createWorkflows(items, record),
    removals: { ...opening, ...createLeases(items), ...createHolds(items), ...records, ...createLooks(items) },
  }
}
