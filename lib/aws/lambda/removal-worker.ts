import type { SQSHandler } from 'aws-lambda'
import * as z from 'zod/mini'
import { ServiceError } from '../../core/errors.ts'
import { storedId } from '../../core/ids.ts'
import { type ContinueDeps, continueRemoval, type RemovalMessage, type Rest } from '../../storage/continue-removal.ts'
import type { RemovalQueue, RemovalTask } from '../../storage/folder-removals.ts'
import { toStoragePath } from '../../storage/path.ts'

interface Deps extends ContinueDeps {
  readonly removalQueue: RemovalQueue
}

/** What a worker keeps of its time for calls in flight and for handing the rest to the next one, in milliseconds. */
const timeToHandOver = 30_000

const message = z.object({ site: z.string(), path: z.string(), id: z.string() })

/** Reads what the queue of removals delivers. Throws an Error when it is none of the service's messages. */
const readTask = (body: string): RemovalTask => {
  const { site, path, id } = z.parse(message, JSON.parse(body))
  return { site: storedId(site), path: toStoragePath(path), id }
}

/**
 * What finishes removals on AWS. What is left after a slice is a new message. A message whose worker dies, or fails for good, is delivered
 * again by the queue, and ends where a person looks at it; one that has met a store in trouble waits until its worker's time is over, for the
 * store may not have learnt that the worker has given the removal back.
 */
export const createRemovalWorker = ({ removalQueue, ...deps }: Deps): SQSHandler => {
  const work = async (message: RemovalMessage, remaining: number): Promise<Rest | undefined> => {
    const deadline = deps.clock.monotonic() + remaining - timeToHandOver
    try {
      return await continueRemoval(deps, message, { deadline, end: remaining })
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 503)) throw error
      console.warn('The removal of a folder waits for another attempt:', error)
      return { delay: Math.ceil(remaining / 1000) }
    }
  }
  return async ({ Records }, context) => {
    for (const { body, messageId } of Records) {
      const task = readTask(body)
      const rest = await work({ task, name: messageId }, context.getRemainingTimeInMillis())
      if (rest) await removalQueue.send(task, rest.delay)
    }
  }
}
