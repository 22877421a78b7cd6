import { randomUUID } from 'node:crypto'
import type { StoragePath } from '../path.ts'
import { refuse } from '../refusals.ts'
import type { ChangeDeps, Requester } from './change.ts'

// In milliseconds. The lock ends after `longestLock`. No change begins in the last `lockReserve` of this time.
const longestLock = 60_000
const lockReserve = 5_000

/**
 * Locks a path until the result is disposed of. The result has the deadline for changes under the lock. Errors:
 * folderLocked.
 */
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
