import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import { ownMetrics, removalTimes } from '../../config/functions.ts'
import { cachedLookup } from '../../core/cached-lookup.ts'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import { unlimited } from '../../core/time.ts'
import type { SiteDirectory } from '../../sites/site-directory.ts'
import { type ContinueDeps, continueRemoval, type RemovalMessage, type Rest } from '../../storage/continue-removal.ts'
import type { RemovalTask } from '../../storage/object-store.ts'
import { storedPath } from '../../storage/path.ts'
import type { RemovalQueue } from '../../storage/path-locks.ts'
import { createQuotas, limitFiles } from '../../storage/quota.ts'
import type { ObservedRemovals } from '../dynamodb/folder-removals.ts'
import { type RecountDeps, recountSites } from '../dynamodb/usage-counts.ts'
import { logMeasures } from './telemetry.ts'

interface Deps extends ContinueDeps {
  readonly removals: ObservedRemovals
  readonly removalQueue: RemovalQueue
}

// In milliseconds: the time that is reserved for calls in flight, and for the message to the next worker.
const timeToHandOver = 30_000

const taskShape = z.object({ site: z.string(), path: z.string(), id: z.string() })

const readTask = (body: string): RemovalTask => {
  const { site, path, id } = z.parse(taskShape, JSON.parse(body))
  return { site: storedId(site), path: storedPath(path), id }
}

const failureLine = ({ site, path }: RemovalTask): string =>
  `The removal of the folder ${path} of site ${site} failed. The queue repeats it later:`

/**
 * Completes removals in slices: the rest of the work after a slice becomes a new message. When a worker dies or fails,
 * the queue delivers its message again, and finally moves it to the dead letters. After a failure of the store, the
 * message waits until the time of its worker is over, because that worker may still have the lease. Without progress,
 * the worker fails in the end: a new message would restart the queue's count of deliveries.
 */
export const createRemovalWorker = ({ removalQueue, ...deps }: Deps) => {
  const work = async (message: RemovalMessage, remaining: number): Promise<Rest | undefined> => {
    const deadline = unlimited.within(remaining - timeToHandOver, deps.clock.monotonic)
    try {
      return await continueRemoval(deps, message, deadline, remaining)
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 503)) throw error
      console.warn(failureLine(message.task), error)
      return { delay: Math.ceil(remaining / 1000) }
    }
  }

  const passOn = async (task: RemovalTask, { delay }: Rest, { functionName }: Context): Promise<void> => {
    const progress = await deps.removals.progressOf(task)
    if (!progress) return
    const { age, idle, attempts } = progress
    const { site, path } = task
    const seconds = Math.round(age / 1000)
    // The line of an old removal, which sets off an alarm, is logged at every log level.
    const level = seconds >= removalTimes.old ? 'ERROR' : 'INFO'
    const members = { FunctionName: functionName, site, path, attempts }
    logMeasures(level, 'A removal is open', members, { [ownMetrics.oldestRemoval]: seconds })
    if (idle >= removalTimes.repeatedFor * 1000) {
      throw new Error(
        `The removal makes no progress: ${attempts} attempts. The queue repeats the message, then moves it to the ` +
          'dead letters. docs/operating.md describes how to resume the removal.',
      )
    }
    await removalQueue.send(task, delay)
  }

  return async ({ Records }: SQSEvent, context: Context): Promise<void> => {
    for (const { body, messageId } of Records) {
      const task = readTask(body)
      try {
        const rest = await work({ task, name: messageId }, context.getRemainingTimeInMillis())
        if (rest) await passOn(task, rest, context)
      } catch (error) {
        console.error(failureLine(task), error)
        throw error
      }
    }
  }
}

type HandlerDeps = Deps & RecountDeps & { readonly sites: Pick<SiteDirectory, 'getSite'> }

// In milliseconds: how long a worker remembers the quota of a site, and the time for the last calls of a recount.
const siteTtl = 20_000
const timeToEnd = 20_000

export const createRemovalsHandler = (deps: HandlerDeps) => {
  const { sites, counts, clock } = deps
  const remembered = { ttl: siteTtl, max: 1_000, now: clock.monotonic }
  const findSite = cachedLookup((id: SiteId) => sites.getSite(id), remembered)
  const files = limitFiles(deps.files, createQuotas(counts, findSite))
  const work = createRemovalWorker({ ...deps, files })
  return async (event: SQSEvent | ScheduledEvent, context: Context): Promise<void> => {
    if ('Records' in event) return work(event, context)
    const deadline = unlimited.within(context.getRemainingTimeInMillis() - timeToEnd, clock.monotonic)
    await recountSites(deps, deadline)
  }
}
