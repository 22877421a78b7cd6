import type { SQSHandler } from 'aws-lambda'
import { readRemovalTask } from '../../lib/storage/read-removal-task.ts'
import { continueRemoval } from '../../lib/storage/remove.ts'
import { deployedStorage } from './deployed.ts'

/** How long a worker works on a removal before it hands the rest to the next one, in milliseconds. */
const slice = 60_000

const deps = deployedStorage()

/**
 * The entry of the worker that finishes removals. What is left after a slice is a new message; a message whose worker dies is delivered
 * again by the queue.
 */
export const handler: SQSHandler = async ({ Records }) => {
  for (const { body } of Records) {
    const task = readRemovalTask(body)
    if (!(await continueRemoval(deps, task, deps.now() + slice))) await deps.removals.send(task, 0)
  }
}
