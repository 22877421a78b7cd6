import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda'
import { cachedLookup } from '../../core/cached-lookup.ts'
import { unlimited } from '../../core/deadline.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Site, SiteDirectory } from '../../sites/site-directory.ts'
import type { ContinueDeps } from '../../storage/continue-removal.ts'
import type { RemovalQueue } from '../../storage/path-locks.ts'
import { createQuotas, limitFiles } from '../../storage/quota.ts'
import type { ObservedRemovals } from '../dynamodb/folder-removals.ts'
import { type RecountDeps, recountSites } from '../recount.ts'
import { createRemovalWorker } from './removal-worker.ts'

interface Deps extends ContinueDeps, Omit<RecountDeps, 'files' | 'sites' | 'now'> {
  readonly sites: Pick<SiteDirectory, 'getSite' | 'list'>
  readonly removals: ObservedRemovals
  readonly removalQueue: RemovalQueue
}

// In milliseconds: a worker looks for the quota of a site once in this time.
const siteTtl = 20_000

// In milliseconds: the time that is reserved for the last calls of a recount.
const timeToEnd = 20_000

/** Processes the queue of removals, and recounts the used bytes when the schedule asks for it. */
export const createRemovalsHandler = ({ sites, counts, files, clock, ...deps }: Deps) => {
  const remembered = { ttl: siteTtl, max: 1_000, now: clock.monotonic }
  const findSite = cachedLookup<SiteId, Site>((id) => sites.getSite(id), remembered)
  const limited = limitFiles(files, createQuotas(counts, findSite))
  const work = createRemovalWorker({ ...deps, files: limited, clock })
  return async (event: SQSEvent | ScheduledEvent, context: Context): Promise<void> => {
    if ('Records' in event) {
      await work(event, context, () => {})
      return
    }
    const deadline = unlimited.within(context.getRemainingTimeInMillis() - timeToEnd, clock.monotonic)
    await recountSites({ ...deps, sites, counts, files, now: clock.wall }, deadline)
  }
}
