import { rmSync } from 'node:fs'
import { type DataDirectory, makeFolders, makeLocks, removeContents, writeMarker } from './data-directory.ts'
import { allows, cannotBeWritten, type Fault, refusalOf, UsageError } from './faults.ts'
import { inspect } from './inspect.ts'
import { type DirectoryLock, inUse, releaseAll, takeGate, takeLock } from './locks.ts'
import { giveAllIn, ownerToServe } from './private-files.ts'

export interface DirectoryClaim {
  fulfil(): void
  giveUp(): void
}

const admitEmpty = (directory: DataDirectory): Fault => {
  const fault = inspect(directory)
  if (!fault) {
    throw new UsageError(
      `The data directory ${directory.path} already contains data. Name an empty one with --data-dir. Nothing was ` +
        'changed.',
    )
  }
  if (allows(fault, 'restore')) return fault
  throw refusalOf(directory, fault)
}

/** If the process dies before the claim ends, the marker says so. */
const lockAndClear = async (directory: DataDirectory): Promise<readonly DirectoryLock[]> => {
  const { service, users } = directory.locks
  const held: DirectoryLock[] = []
  try {
    makeLocks(directory)
    held.push(await takeGate(directory))
    for (const file of [service, users]) {
      const lock = takeLock(file, 'exclusive')
      if (!lock) throw inUse(directory)
      held.push(lock)
    }
    admitEmpty(directory)
    writeMarker(directory, 'half restored')
    removeContents(directory)
    makeFolders(directory)
    return held
  } catch (error) {
    releaseAll(held)
    throw error instanceof UsageError ? error : cannotBeWritten(directory, error)
  }
}

/** Takes an empty directory to fill it. Throws UsageError when it is not empty, or in use. */
export const claimEmpty = async (directory: DataDirectory): Promise<DirectoryClaim> => {
  const { path, locks, marker } = directory
  const wasAbsent = admitEmpty(directory).code === 'absent'
  const held = await lockAndClear(directory)
  return {
    fulfil() {
      // Root may have filled a folder of the service's user. The service could not use root's files.
      const owner = ownerToServe(path)
      if (owner) giveAllIn(path, owner)
      writeMarker(directory, 'ready', owner)
      releaseAll(held)
    },
    giveUp() {
      removeContents(directory)
      rmSync(marker)
      releaseAll(held)
      rmSync(wasAbsent ? path : locks.folder, { recursive: true })
    },
  }
}
