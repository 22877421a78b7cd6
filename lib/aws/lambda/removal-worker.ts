import type { SQSHandler } from 'aws-lambda'
import * as z from 'zod/mini'
import { unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import { storedId } from '../../core/ids.ts'
import { type ContinueDeps, continueRemoval, type RemovalMessage, type Rest } from '../../storage/continue-removal.ts'
import { toStoragePath } from '../../storage/path.ts'
import type { RemovalQueue, RemovalTask } from '../../storage/path-locks.ts'

interface Deps extends ContinueDeps {
  readonly removalQueue: RemovalQueue
}

// Reserved for calls in flight and the message to the next worker. In milliseconds.
const timeToHandOver = 30_000

const message = z.object({ site: z.string(), path: z.string(), id: z.string() })

const readTask = (body: string): RemovalTask => {
  const { site, path, id } = z.parse(message, JSON.parse(body))
  return { site: storedId(site), path: toStoragePath(path), id }
}

/**
 * Completes removals, slice by slice: the rest is a new message. When a worker dies or fails, the queue delivers its
 * message again, and finally moves it to the dead letters. After a store's failure the message waits until the worker's
 * time is over, because the worker may still have the lease.
 */
export const createRemovalWorker = ({ removalQueue, ...deps }: Deps): SQSHandler => {
  const work = async (message: RemovalMessage, remaining: number): Promise<Rest | undefined> => {
    const deadline = unlimited.within(remaining - timeToHandOver, deps.clock.monotonic)
    try {
      return await continueRemoval(deps, message, deadline, remaining)
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 503)) throw error
      console.warn('The removal of a folder failed, and is repeated later:', error)
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
