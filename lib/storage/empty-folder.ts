import type { SiteId } from '../ids.ts'
import { folderKey } from './keys.ts'
import { objectPages } from './list-all.ts'
import type { ObjectStore } from './object-store.ts'
import type { StoragePath } from './path.ts'

/** How many pages are deleted at once, while the next one is listed. */
const callsInFlight = 4

/** Removes everything below a prefix. Answers false when the time is up before that. */
const emptyPrefix = async (store: ObjectStore, prefix: string, isTimeUp: () => boolean): Promise<boolean> => {
  const inFlight = new Set<Promise<void>>()
  const failures: unknown[] = []
  for await (const objects of objectPages(store, prefix)) {
    const removal = store
      .remove(objects, undefined)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => inFlight.delete(removal))
    inFlight.add(removal)
    if (inFlight.size >= callsInFlight) await Promise.race(inFlight)
    if (failures.length > 0 || isTimeUp()) break
  }
  await Promise.all(inFlight)
  if (failures.length > 0) throw failures[0]
  // What has come or been replaced meanwhile is found by another round.
  if (!(await store.exists(prefix))) return true
  return isTimeUp() ? false : emptyPrefix(store, prefix, isTimeUp)
}

/** Removes all that a folder holds, drafts included, and the folder. Answers whether it is all gone. */
export const emptyFolder = async (
  store: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  isTimeUp: () => boolean,
): Promise<boolean> =>
  (await emptyPrefix(store, folderKey('draft', site, folder), isTimeUp)) &&
  emptyPrefix(store, folderKey('live', site, folder), isTimeUp)
