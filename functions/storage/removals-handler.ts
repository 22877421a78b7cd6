import type { SQSHandler } from 'aws-lambda'
import { createDocumentClient } from '../../lib/aws/dynamodb.ts'
import { createFileStores } from '../../lib/aws/file-stores.ts'
import { readRemovalTask } from '../../lib/aws/read-removal-task.ts'
import { systemClock } from '../../lib/clock.ts'
import { readRemovalsSettings } from '../../lib/config.ts'
import { continueRemoval } from '../../lib/storage/remove.ts'

/** What a worker keeps of its time for calls in flight and for handing the rest to the next one, in milliseconds. */
const timeToHandOver = 30_000

const clock = systemClock
const { files, removals, removalQueue } = createFileStores({
  dynamodb: createDocumentClient(),
  ...readRemovalsSettings(),
})

/**
 * The entry of the worker that finishes removals. What is left after a slice is a new message; a message whose worker dies is delivered
 * again by the queue.
 */
export const handler: SQSHandler = async ({ Records }, context) => {
  for (const { body } of Records) {
    const task = readRemovalTask(body)
    const deadline = clock.monotonic() + context.getRemainingTimeInMillis() - timeToHandOver
    if (!(await continueRemoval({ files, removals, clock }, task, deadline))) await removalQueue.send(task, 0)
  }
}
