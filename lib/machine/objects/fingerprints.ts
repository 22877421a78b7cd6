import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../core/clock.ts'
import type { Deadline } from '../../core/deadline.ts'
import { createFingerprint } from '../../storage/fingerprint.ts'
import type { ListedObject, ObjectInfo } from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import type { Bodies } from './bodies.ts'
import type { ObjectRow, ObjectRows } from './object-rows.ts'
import type { Staging } from './staging.ts'

interface Deps {
  readonly database: Pick<Database, 'read' | 'note'>
  readonly rows: ObjectRows
  readonly bodies: Pick<Bodies, 'piecesOf'>
  readonly staging: Pick<Staging, 'isBusy'>
}

type Target = Pick<ListedObject, 'key' | 'version'>

/** If more of them wait, a fingerprint is made on request. */
const mostWaiting = 1_000

/** Milliseconds: the connection of the request must not seem dead. */
const longestWait = 60_000

/** Milliseconds between pieces without a waiting request, while uploads arrive. This slows uploads by a few percent. */
const restWhileBusy = 2

interface Job extends Target {
  isAwaited: boolean
  readonly made: PromiseWithResolvers<string | null>
}

const nameOf = ({ key, version }: Target): string => `${version} ${key}`

/**
 * Fingerprints of objects that were too large to get one on arrival. One at a time is made in the background;
 * everything else has its turn between two pieces of a file.
 */
export const createFingerprints = ({ database, rows, bodies, staging }: Deps) => {
  // The current one is among them.
  const jobs = new Map<string, Job>()
  let working: Promise<void> | undefined
  let isStopped = false

  const fingerprintOf = async (row: ObjectRow, job: Job): Promise<string | undefined> => {
    const making = createFingerprint()
    for await (const piece of await bodies.piecesOf(row)) {
      if (isStopped) return undefined
      making.update(piece)
      if (staging.isBusy() && !job.isAwaited) await sleep(restWhileBusy)
    }
    return making.digest()
  }

  const make = async (job: Job): Promise<string | null> => {
    const { key, version } = job
    const row = await database.read(() => rows.get(key))
    if (row?.version !== version || row.blob === null) return null
    const fingerprint = row.fingerprint ?? (await fingerprintOf(row, job))
    if (fingerprint === undefined) return null
    // A fingerprint that cannot be stored now is computed again later. The caller gets it anyway.
    await database.note(() => rows.fingerprint(key, version, fingerprint)).catch(() => {})
    return fingerprint
  }

  const next = (): Job | undefined => {
    const waiting = [...jobs.values()]
    return waiting.find(({ isAwaited }) => isAwaited) ?? waiting[0]
  }

  const work = async (): Promise<void> => {
    for (let job = next(); job; job = next()) {
      // An object without readable bytes has no fingerprint. Reading it shows the reason.
      job.made.resolve(await make(job).catch(() => null))
      jobs.delete(nameOf(job))
    }
    working = undefined
  }

  const add = ({ key, version }: Target, isAwaited: boolean): Job => {
    const name = nameOf({ key, version })
    const job = jobs.get(name) ?? { key, version, isAwaited, made: Promise.withResolvers<string | null>() }
    job.isAwaited ||= isAwaited
    jobs.set(name, job)
    working ??= work()
    return job
  }

  return {
    /** May be dropped if too many wait, or if the service stops. */
    makeLater(object: Target): void {
      if (!isStopped && jobs.size < mostWaiting) add(object, false)
    },

    /** Null when it takes too long, or the object is gone. */
    async of(object: ObjectInfo, deadline: Deadline): Promise<string | null> {
      if (object.fingerprint !== null || isStopped) return object.fingerprint
      using limit = deadline.within(longestWait, systemClock.monotonic)
      return await limit.wait(add(object, true).made.promise).catch(() => null)
    },

    async stop(): Promise<void> {
      isStopped = true
      for (const { made } of jobs.values()) made.resolve(null)
      jobs.clear()
      await working
    },
  }
}
