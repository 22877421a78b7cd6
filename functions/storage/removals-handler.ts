import type { SQSHandler } from 'aws-lambda'
import { readRemovalTask } from '../../lib/storage/read-removal-task.ts'
import { continueRemoval } from '../../lib/storage/remove.ts'
import { deployedStorage } from './deployed.ts'

/** What a worker keeps of its time for calls in flight and for handing the rest to the next one, in milliseconds. */
const timeToHandOver = 30_000

const deps = deployedStorage()

/**
 * The entry of the worker that finishes removals. What is left after a slice is a new message; a message whose worker dies is delivered
 * again by the queue.
 */
export const handler: SQSHandler = async ({ Records }, context) => {
  for (const { body } of Records) {
    const task = readRemovalTask(body)
    const deadline = deps.now() + context.getRemainingTimeInMillis() - timeToHandOver
    if (!(await continueRemoval(deps, task, deadline))) await deps.removals.send(task, 0)
  }
}
