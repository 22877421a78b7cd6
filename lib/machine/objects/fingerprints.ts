import { setTimeout as sleep } from 'node:timers/promises'
import { onDemand } from '../../core/cached-lookup.ts'
import { createTurns } from '../../core/in-parallel.ts'
import { type Deadline, systemClock } from '../../core/time.ts'
import { createFingerprint } from '../../storage/content.ts'
import type { ListedObject, ObjectInfo } from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import type { Bodies, ObjectRow, ObjectRows } from './object-rows.ts'

interface Deps {
  readonly database: Pick<Database, 'read' | 'note'>
  readonly rows: ObjectRows
  readonly bodies: Pick<Bodies, 'piecesOf'>
  readonly isBusy: () => boolean
}

type Target = Pick<ListedObject, 'key' | 'version'>

// When more objects than this wait, a fingerprint is computed on request.
const mostWaiting = 1_000

// In milliseconds: after this time, the request is answered without a fingerprint. A connection that is silent for
// longer may seem dead.
const longestWait = 60_000

// In milliseconds: the pause between pieces in the background while uploads arrive or a request waits. With this pause,
// the computation slows uploads by only a few percent.
const restWhileBusy = 2

interface Job {
  isAwaited: boolean
  readonly fingerprint: () => Promise<string | null>
}

/**
 * Fingerprints of objects that were too large to get one on arrival. One fingerprint at a time is computed in the
 * background, and one for the requests that wait. Between two pieces of a file, other work has its turn.
 */
export const createFingerprints = ({ database, rows, bodies, isBusy }: Deps) => {
  const jobs = new Map<string, Job>()
  const inBackground = createTurns({ atOnce: 1 })
  const onRequest = createTurns({ atOnce: 1 })
  const isAnyAwaited = () => [...jobs.values()].some(({ isAwaited }) => isAwaited)
  let isStopped = false

  const fingerprintOf = async (row: ObjectRow, job: Job): Promise<string | undefined> => {
    const making = createFingerprint()
    for await (const piece of await bodies.piecesOf(row)) {
      if (isStopped) return undefined
      making.update(piece)
      if (!job.isAwaited && (isBusy() || isAnyAwaited())) await sleep(restWhileBusy)
    }
    return making.digest()
  }

  const make = async ({ key, version }: Target, job: Job): Promise<string | null> => {
    if (isStopped) return null
    const row = await database.read(() => rows.get(key))
    if (row?.version !== version || row.blob === null) return null
    const fingerprint = row.fingerprint ?? (await fingerprintOf(row, job))
    if (fingerprint === undefined) return null
    // If a fingerprint cannot be stored now, it is computed again later. The caller gets the fingerprint even then.
    await database.note(() => rows.fingerprint(key, version, fingerprint)).catch(() => {})
    return fingerprint
  }

  const jobOf = (object: Target): Job => {
    const name = `${object.version} ${object.key}`
    const job: Job = jobs.get(name) ?? {
      isAwaited: false,
      // If its bytes cannot be read, an object has no fingerprint. Reading the object shows the reason.
      fingerprint: onDemand(() =>
        make(object, job)
          .catch(() => null)
          .finally(() => jobs.delete(name)),
      ),
    }
    jobs.set(name, job)
    return job
  }

  return {
    /** The job may be dropped if too many wait, or if the service stops. */
    makeLater(object: Target): void {
      if (!isStopped && jobs.size < mostWaiting) void inBackground(jobOf(object).fingerprint)
    },

    /** Null when the computation takes too long, or the object no longer exists. */
    async of(object: ObjectInfo, deadline: Deadline): Promise<string | null> {
      if (object.fingerprint !== null || isStopped) return object.fingerprint
      const job = jobOf(object)
      job.isAwaited = true
      using limit = deadline.within(longestWait, systemClock.monotonic)
      return await limit.wait(onRequest(job.fingerprint)).catch(() => null)
    },

    async stop(): Promise<void> {
      isStopped = true
      await Promise.all(Array.from(jobs.values(), ({ fingerprint }) => fingerprint()))
    },
  }
}
