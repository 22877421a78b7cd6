import { randomUUID } from 'node:crypto'
import { type Deadline, reserves, unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { entryOfRemoval, type FolderRemovals, longestSilence, type RemovalTask } from '../../storage/folder-removals.ts'
import type { RemovedFolder } from '../../storage/object-store.ts'
import type { StoragePath } from '../../storage/path.ts'
import type { ItemChange } from './dynamodb.ts'
import type { RecordChange } from './journal.ts'
import { type PathItems, type RemovalItem, recordKey, removalKey } from './path-items.ts'

/** Folders as seen at one moment: a change looks before it writes, and once more after. */
export interface FolderLook {
  readonly isRemoving: boolean
  // A removal of one of them has begun since. It may have taken the new files along, even if it has ended.
  hasChanged(): Promise<boolean>
}

/** Records of removals, kept as long as the removed files. */
export interface RemovalRecords extends Pick<FolderRemovals, 'note' | 'lastOf'> {
  // Goes before the first deletion: if the process dies, the record covers what the request can have removed. Answers
  // the removal together with an earlier one that it continues.
  begin(removal: RemovedFolder, deadline: Deadline): Promise<RemovedFolder>
  // Everything is back in its place.
  cancel(removal: RemovedFolder): Promise<void>
}

export interface ObservedRemovals extends FolderRemovals, RemovalRecords {
  // `lockId` is the caller's own hold: it does not block the caller.
  look(site: SiteId, folders: readonly StoragePath[], lockId?: string): Promise<FolderLook>
}

/** Closed removals are kept so long, in seconds, that changes which began before them still see them. */
const closedFor = 24 * 3600

// No removal or hold, or a closed one.
const whereFree = (now: number) => ({
  condition: 'attribute_not_exists(#path) OR #closed = :true OR (#hold = :true AND #until <= :now)',
  values: { ':true': true, ':now': now },
})

/** Answers the item as it was; undefined when the condition did not hold. */
const updateRemoval = async (
  { table }: PathItems,
  { site, path, id }: RemovalTask,
  { values, ...change }: ItemChange,
): Promise<Partial<RemovalItem> | undefined> =>
  table.update({ site, path: removalKey(path) }, { ...change, values: { ':id': id, ...values }, returns: 'ALL_OLD' })

/** The lease of a worker on a removal. */
export const createLeases = (items: PathItems): Pick<FolderRemovals, 'take' | 'giveBack'> => ({
  async take(task, holder, duration) {
    const now = items.now()
    const attempt = randomUUID()
    const isTaken = await updateRemoval(items, task, {
      update: 'SET #holder = :holder, #until = :until, #attempt = :attempt, #heard = :now',
      condition: '#id = :id AND #closed = :false AND (attribute_not_exists(#until) OR #until <= :now)',
      values: { ':false': false, ':holder': holder, ':until': now + duration, ':attempt': attempt, ':now': now },
    })
    if (isTaken) return { outcome: 'taken' }
    const [removal] = await items.removalsOf(task.site, [task.path])
    if (!removal || removal.id !== task.id || removal.isClosed) return { outcome: 'over' }
    // The SDK has repeated a call whose answer was lost.
    if (removal.attempt === attempt) return { outcome: 'taken' }
    return { outcome: 'held', holder: removal.holder, left: Math.max(removal.until - now, 0) }
  },

  async giveBack(task, holder, removed) {
    await updateRemoval(items, task, {
      update: 'SET #heard = :now REMOVE #until ADD #removed :removed',
      condition: '#id = :id AND #holder = :holder',
      values: { ':holder': holder, ':now': items.now(), ':removed': removed },
    })
  },
})

/** Holds keep others out of a folder while it is restored. */
export const createHolds = (items: PathItems): Pick<FolderRemovals, 'hold' | 'release'> => ({
  async hold(site, folder, id, duration) {
    const until = items.now() + duration
    const expires = Math.floor(until / 1000) + closedFor
    const hold: RemovalItem = { site, path: removalKey(folder), id, closed: false, hold: true, until, expires }
    if (await items.table.put(hold, whereFree(items.now()))) return true
    // The SDK may have repeated a call whose answer was lost.
    return (await items.removalsOf(site, [folder])).some((removal) => removal.id === id)
  },

  async release(site, path, id) {
    await updateRemoval(
      items,
      { site, path, id },
      { update: 'SET #closed = :true', condition: '#id = :id', values: { ':true': true } },
    )
  },
})

// Milliseconds. A removal continues one that failed within this time.
const continuedFor = 24 * 3600 * 1000

/** `keptDays` in days. */
export const createRecords = (items: PathItems, keptDays: number): RemovalRecords => {
  const change = ({ site, folder, since }: RemovedFolder, { values, ...rest }: ItemChange) => {
    const expires = Math.floor(items.now() / 1000) + keptDays * 24 * 3600
    const own = { ':since': since, ':expires': expires }
    return items.table.update({ site, path: recordKey(folder) }, { ...rest, values: { ...own, ...values } })
  }
  return {
    async begin(removal, deadline) {
      const { since } = removal
      const until = items.now() + Math.min(deadline.timeLeft(), longestSilence)
      const first = await change(removal, {
        update: 'SET #pending = :since, #until = :until, #expires = :expires',
        // Records of earlier versions have no #until.
        condition:
          'attribute_not_exists(#pending) OR #until < :recent OR (attribute_not_exists(#until) AND #to < :recent)',
        values: { ':until': until, ':recent': since - continuedFor },
        returns: 'ALL_NEW',
      })
      const update = 'SET #pending = if_not_exists(#pending, :since), #until = :until, #expires = :expires'
      const continued = { update, values: { ':until': until }, returns: 'ALL_NEW' } as const
      const { pending, from, to } = first ?? (await change(removal, continued)) ?? {}
      const began = Number(pending)
      // Another removal has ended since this one listed the folder.
      return { ...removal, since: Number(to) >= since ? Math.min(Number(from), began) : began }
    },

    async note(removal) {
      const update = 'SET #from = :since, #to = :to, #expires = :expires REMOVE #pending, #until'
      await change(removal, { update, values: { ':to': items.now() } })
    },

    async cancel(removal) {
      const update = 'SET #expires = :expires REMOVE #pending, #until'
      await change(removal, { update, condition: '#pending = :since' })
    },

    lastOf: items.recordsOf,
  }
}

/** Opens and closes removals. */
export const createOpening = (
  items: PathItems,
  record: RecordChange,
  note: FolderRemovals['note'],
): Pick<FolderRemovals, 'open' | 'close'> => ({
  async open(site, folder, id, entry, deadline = unlimited) {
    const [heard, began, path] = [items.now(), items.now(), removalKey(folder)]
    const item: RemovalItem = { site, path, id, closed: false, heard, began, entry, removed: 0 }
    using opening = deadline.reserving(reserves.answer)
    opening.check()
    // Its message closes a removal that was opened by a call that was cut, when the folder is empty.
    if (await items.table.put(item, whereFree(began), opening.signal)) return id
    const [removal] = await items.removalsOf(site, [folder])
    if (removal?.isHold && !removal.isClosed) throw new ServiceError('folderLocked')
    return removal?.id ?? id
  },

  async close(site, path, id, removed) {
    const [removal] = await items.removalsOf(site, [path])
    if (removal?.id !== id || removal.isClosed) return
    // A worker that dies before it closes the removal is followed by another one, which does both.
    await note({ site, folder: path, since: removal.began })
    const closer = randomUUID()
    const expires = Math.floor(items.now() / 1000) + closedFor
    const change = {
      update: 'SET #closed = :true, #closer = :closer, #expires = :expires',
      condition: '#id = :id AND #closed = :false',
      values: { ':true': true, ':false': false, ':closer': closer, ':expires': expires },
    }
    const closed = await updateRemoval(items, { site, path, id }, change)
    // Somebody else has closed it, or the SDK has repeated a call whose answer was lost.
    const isOwn = closed ?? (await items.removalsOf(site, [path])).find((one) => one.closer === closer)
    if (isOwn && removal.entry) await record(entryOfRemoval(removal.entry, removal.removed + removed))
  },
})

/** Looks at open removals. */
export const createLooks = (items: PathItems): Pick<ObservedRemovals, 'openOf' | 'isOpenBelow' | 'look'> => ({
  async openOf(site, folders) {
    const silent = items.now() - longestSilence
    return (await items.removalsOf(site, folders)).flatMap(({ path, id, isClosed, heard, isHold }) =>
      isClosed ? [] : [{ path, id, isTended: heard > silent, isHold }],
    )
  },

  isOpenBelow: items.isRemovalBelow,

  async look(site, folders, lockId) {
    const before = await items.removalsOf(site, folders)
    const known = new Set(before.map(({ id }) => id))
    return {
      isRemoving: before.some(({ isClosed, id }) => !isClosed && id !== lockId),
      hasChanged: async () => (await items.removalsOf(site, folders)).some(({ id }) => !known.has(id)),
    }
  },
})
