import { randomUUID } from 'node:crypto'
import type { StoragePath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/workflows.ts'
import type { RecordChange } from './journal.ts'
import { type PathItems, type WorkflowItem, workflowKey } from './path-items.ts'

const deletedTogether = 100

/** The running workflows of pages. */
export const createWorkflows = (items: PathItems, record: RecordChange): Workflows => {
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
