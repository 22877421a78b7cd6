import { randomUUID } from 'node:crypto'
import type { StoragePath } from '../path.ts'
import { type ChangeDeps, type Requester, refuse } from './change.ts'

// Milliseconds. The lock ends after `longestLock`. No change begins in the last `lockReserve`.
const longestLock = 60_000
const lockReserve = 5_000

/** Locks a path until it is disposed of, with the deadline of changes under the lock. Errors: folderLocked. */
export const lockPath = async (
  { removals, clock }: Pick<ChangeDeps, 'removals' | 'clock'>,
  path: StoragePath,
  { site, deadline }: Pick<Requester, 'site' | 'deadline'>,
) => {
  const id = randomUUID()
  refuse([!(await removals.lock(site, path, id, longestLock)) && 'folderLocked'])
  return {
    id,
    deadline: deadline.within(longestLock - lockReserve, clock.monotonic),
    [Symbol.asyncDispose]: () => removals.unlock(site, path, id).catch(() => {}),
  }
}
