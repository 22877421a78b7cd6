import { setTimeout as sleep } from 'node:timers/promises'
import { onDemand } from '../../core/cached-lookup.ts'
import { createTurns } from '../../core/in-parallel.ts'
import { type Deadline, systemClock } from '../../core/time.ts'
import { createFingerprint } from '../../storage/content.ts'
import type { ObjectInfo } from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import type { Bodies, ObjectRow, ObjectRows } from './object-rows.ts'

interface Deps {
  readonly database: Pick<Database, 'read' | 'note'>
  readonly rows: ObjectRows
  readonly bodies: Pick<Bodies, 'piecesOf'>
  readonly isBusy: () => boolean
}

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
 * Fingerprints of blobs that were too large to get one on arrival. One fingerprint at a time is computed in the
 * background, and one for the requests that wait. Between two pieces of a file, other work has its turn. All objects
 * with the bytes get the fingerprint, even if they were moved, copied or removed meanwhile.
 */
export const createFingerprints = ({ database, rows, bodies, isBusy }: Deps) => {
  const jobs = new Map<string, Job>()
  const waiting = new Set<string>()
  const onRequest = createTurns({ atOnce: 1 })
  const isAnyAwaited = () => [...jobs.values()].some(({ isAwaited }) => isAwaited)
  let isStopped = false
  let background: Promise<void> | undefined

  const fingerprintOf = async (row: ObjectRow, job: Job): Promise<string | undefined> => {
    const making = createFingerprint()
    for await (const piece of await bodies.piecesOf(row)) {
      if (isStopped) return undefined
      making.update(piece)
      if (!job.isAwaited && (isBusy() || isAnyAwaited())) await sleep(restWhileBusy)
    }
    return making.digest()
  }

  const make = async (blob: string, job: Job): Promise<string | null> => {
    if (isStopped) return null
    const row = await database.read(() => rows.withBlob(blob))
    if (!row) return null
    const fingerprint = row.fingerprint ?? (await fingerprintOf(row, job))
    if (fingerprint === undefined) return null
    // If a fingerprint cannot be stored now, it is computed again later. The caller gets the fingerprint even then.
    await database.note(() => rows.fingerprint(blob, fingerprint)).catch(() => {})
    return fingerprint
  }

  const jobOf = (blob: string): Job => {
    const job: Job = jobs.get(blob) ?? {
      isAwaited: false,
      // If its bytes cannot be read, an object has no fingerprint. Reading the object shows the reason.
      fingerprint: onDemand(() =>
        make(blob, job)
          .catch(() => null)
          .finally(() => jobs.delete(blob)),
      ),
    }
    jobs.set(blob, job)
    return job
  }

  const makeWaiting = async (): Promise<void> => {
    for (const blob of waiting) {
      await jobOf(blob).fingerprint()
      waiting.delete(blob)
    }
    background = undefined
  }

  return {
    /** If the service stops first, its next start finds the blob. */
    makeLater(blob: string): void {
      waiting.add(blob)
      background ??= makeWaiting()
    },

    /** Null when the computation takes too long, or the object no longer exists. */
    async of(object: ObjectInfo, deadline: Deadline): Promise<string | null> {
      if (object.fingerprint !== null || isStopped) return object.fingerprint
      const row = await database.read(() => rows.get(object.key)).catch(() => undefined)
      if (row?.version !== object.version || row.blob === null) return null
      const job = jobOf(row.blob)
      job.isAwaited = true
      using limit = deadline.within(longestWait, systemClock.monotonic)
      return await limit.wait(onRequest(job.fingerprint)).catch(() => null)
    },

    async stop(): Promise<void> {
      isStopped = true
      await Promise.all([background, ...Array.from(jobs.values(), ({ fingerprint }) => fingerprint())])
    },
  }
}
