import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import type { PagesTable } from '../../../lib/storage/pages-table.ts'
import type { RemovalQueue } from '../../../lib/storage/removal-queue.ts'

/** How a store fails in ways that pass. */
export const failures = {
  throttled: () => Object.assign(new Error('Slow down'), { name: 'SlowDown', $metadata: { httpStatusCode: 503 } }),
  'timed out': () => Object.assign(new Error('Timed out'), { name: 'TimeoutError' }),
  'out of order': () =>
    Object.assign(new Error('Internal'), { name: 'InternalError', $metadata: { httpStatusCode: 500 } }),
} as const

/** Lets one call of the stores fail: the one of that number, counted from 1; none at 0. */
export const createFault = () => {
  let calls = 0
  let failing = 0
  let failure: () => Error = failures.throttled
  const counted =
    <Input extends readonly unknown[], Output>(call: (...input: Input) => Promise<Output>) =>
    async (...input: Input): Promise<Output> => {
      calls += 1
      if (calls === failing) throw failure()
      return call(...input)
    }
  return {
    store: (store: ObjectStore): ObjectStore => ({
      find: counted(store.find),
      read: counted(store.read),
      exists: counted(store.exists),
      list: counted(store.list),
      stage: counted(store.stage),
      place: counted(store.place),
      remove: counted(store.remove),
    }),
    pages: (pages: PagesTable): PagesTable => ({
      ...pages,
      hasWorkflow: counted(pages.hasWorkflow),
      hasWorkflowBelow: counted(pages.hasWorkflowBelow),
      openRemoval: counted(pages.openRemoval),
      closeRemoval: counted(pages.closeRemoval),
      removalsOf: counted(pages.removalsOf),
      hasOpenRemovalBelow: counted(pages.hasOpenRemovalBelow),
    }),
    removals: ({ send }: RemovalQueue): RemovalQueue => ({ send: counted(send) }),
    arm(number: number, kind: () => Error = failures.throttled) {
      calls = 0
      failing = number
      failure = kind
    },
    get calls() {
      return calls
    },
  }
}
