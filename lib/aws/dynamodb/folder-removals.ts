import { ServiceError } from '../../core/errors.ts'
import { type HistoryEntry, withCount } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { type Deadline, reserves, unlimited } from '../../core/time.ts'
import type { Period, RemovalTask, RemovedFolder } from '../../storage/object-store.ts'
import type { StoragePath } from '../../storage/path.ts'
import { type FolderRemovals, longestSilence } from '../../storage/path-locks.ts'
import { expression, type ItemChange, inSeconds, openTable, type TableOptions } from './dynamodb.ts'
import type { RecordChange, RecordingOptions } from './journal.ts'
import { getItems, isAnyBelow, type PathItem, pathOf } from './path-locks.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

const removalKey = (folder: StoragePath) => `removal#${folder}`
const recordKey = (folder: StoragePath) => `removed#${folder}`

/**
 * A removal, or a lock while a folder is restored. The lock ends at `until`, even without a call. `holder` has the
 * lease of a removal until then; `heartbeat` is the time of the last call of the holder. Moments are in epoch
 * milliseconds, `expires` is in seconds.
 */
interface RemovalItem extends PathItem {
  readonly id: string
  readonly closed: boolean
  readonly lock?: boolean
  readonly until?: number
  readonly holder?: string
  readonly mark?: string
  readonly heartbeat?: number
  readonly entry?: HistoryEntry
  readonly removed?: number
  readonly began?: number
  // Nothing up to the key `after` is left. `progressed` is the time of the last removed object, or of the first
  // attempt.
  readonly after?: string
  readonly progressed?: number
  readonly attempts?: number
  readonly expires?: number
}

interface RecordItem extends PathItem {
  readonly from?: number
  readonly to?: number
  readonly pending?: number
  readonly until?: number
}

// In milliseconds. A closed removal stays for this time, so that changes that began earlier still see the removal.
const closedFor = 24 * 3600 * 1000

const isFreeAt = (now: number) =>
  expression`attribute_not_exists(#path) OR #closed = ${true} OR (#lock = ${true} AND #until <= ${now})`

const isOpen = expression`#closed = ${false}`

const toRemoval = (item: RemovalItem, now: number) => ({
  heartbeat: 0,
  holder: '',
  until: 0,
  began: 0,
  removed: 0,
  attempts: 0,
  ...item,
  path: pathOf(item),
  isRestoreLock: item.lock === true,
  isClosed: item.closed || (item.lock === true && Number(item.until) <= now),
})

const openItems = (options: TableOptions, now: () => number) => {
  const table = openTable<RemovalItem>(options)
  const readAll = async (site: SiteId, folders: readonly StoragePath[]) =>
    (await getItems(table, site, folders.map(removalKey))).map((item) => toRemoval(item, now()))
  return {
    table,
    now,
    readAll,
    read: async (site: SiteId, folder: StoragePath) => (await readAll(site, [folder]))[0],
    update: ({ site, path, id }: RemovalTask, { condition, ...change }: ItemChange) =>
      table.update(
        { site, path: removalKey(path) },
        { ...change, condition: [expression`#id = ${id}`, condition].flat() },
      ),
  }
}

type Items = ReturnType<typeof openItems>

// In milliseconds: a removal that begins within this time after a failed removal continues the failed one.
const continuedFor = 24 * 3600 * 1000

const createRecords = (options: TableOptions, now: () => number, keptDays: number) => {
  const table = openTable<RecordItem>(options)
  const change = ({ site, folder }: RemovedFolder, { set, ...rest }: ItemChange) => {
    const expires = inSeconds(now()) + keptDays * 24 * 3600
    return table.update({ site, path: recordKey(folder) }, { ...rest, set: { ...set, expires } })
  }
  return {
    // Call this before the first deletion: if the process dies, the record covers everything that the request may have
    // removed. Returns the period of the removal. If the removal continues an earlier removal, the period begins with
    // the earlier one.
    async begin(removal: RemovedFolder, deadline: Deadline): Promise<RemovedFolder> {
      const { since } = removal
      const until = now() + Math.min(deadline.timeLeft(), longestSilence)
      const recent = since - continuedFor
      const first = await change(removal, {
        set: { pending: since, until },
        condition: expression`attribute_not_exists(#pending) OR #until < ${recent}`,
        returns: 'ALL_NEW',
      })
      const pendingSince = expression`if_not_exists(#pending, ${since})`
      const continued = { set: { pending: pendingSince, until }, returns: 'ALL_NEW' } as const
      const { pending = since, from = pending, to = 0 } = first ?? (await change(removal, continued)) ?? {}
      // If another removal ended after this removal had listed the folder, the period covers both.
      return { ...removal, since: to >= since ? Math.min(from, pending) : pending }
    },

    async note(removal: RemovedFolder): Promise<void> {
      await change(removal, { set: { from: removal.since, to: now(), pending: undefined, until: undefined } })
    },

    async cancel(removal: RemovedFolder): Promise<void> {
      const set = { pending: undefined, until: undefined }
      await change(removal, { set, condition: expression`#pending = ${removal.since}` })
    },

    // If the last removal has failed or has not ended, the period of the removal before it counts too.
    async lastOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly Period[]> {
      const items = await getItems(table, site, folders.map(recordKey))
      return items
        .flatMap(({ from, to = 0, pending, until = to }) => [
          ...(pending === undefined ? [] : [{ from: pending, to: until }]),
          ...(from === undefined ? [] : [{ from, to }]),
        ])
        .sort((one, other) => other.to - one.to)
    },
  }
}

const createRemovals = (
  { table, now, read, update }: Items,
  record: RecordChange,
  note: FolderRemovals['note'],
): Pick<FolderRemovals, 'open' | 'close' | 'take' | 'giveBack'> => ({
  async open(site, folder, id, entry, deadline = unlimited) {
    const began = now()
    const item = { site, path: removalKey(folder), id, closed: false, heartbeat: began, began, entry, removed: 0 }
    using opening = deadline.reserving(reserves.answer)
    opening.check()
    // A message was sent before. If this call is cut off, the worker of that message closes the removal.
    if (await table.put(item, { condition: isFreeAt(began), signal: opening.signal })) return id
    const removal = await read(site, folder)
    if (removal?.isRestoreLock && !removal.isClosed) throw new ServiceError('folderLocked')
    return removal?.id ?? id
  },

  async close(site, path, id, removed) {
    const removal = await read(site, path)
    if (removal?.id !== id || removal.isClosed) return
    // The record is written first: if this worker dies before it closes the removal, another worker repeats both steps.
    await note({ site, folder: path, since: removal.began })
    const mark = createMark()
    const set = { closed: true, mark, expires: inSeconds(now() + closedFor) }
    const closed = await update({ site, path, id }, { set, condition: isOpen })
    const isOwn = closed !== undefined || isOwnWrite(mark, (await read(site, path))?.mark)
    if (isOwn && removal.entry) await record(withCount(removal.entry, removal.removed + removed))
  },

  async take(task, holder, duration) {
    const moment = now()
    const mark = createMark()
    const taken = await update(task, {
      set: {
        holder,
        mark,
        until: moment + duration,
        heartbeat: moment,
        progressed: expression`if_not_exists(#progressed, ${moment})`,
      },
      add: { attempts: 1 },
      condition: [isOpen, expression`(attribute_not_exists(#until) OR #until <= ${moment})`],
      returns: 'ALL_NEW',
    })
    if (taken) return { outcome: 'taken', after: taken.after }
    const removal = await read(task.site, task.path)
    if (!removal || removal.id !== task.id || removal.isClosed) return { outcome: 'gone' }
    if (isOwnWrite(mark, removal.mark)) return { outcome: 'taken', after: removal.after }
    return { outcome: 'held', holder: removal.holder, left: Math.max(removal.until - moment, 0) }
  },

  async giveBack(task, holder, removed, after) {
    const moment = now()
    await update(task, {
      set: {
        heartbeat: moment,
        until: undefined,
        after,
        ...(removed > 0 && { progressed: moment, attempts: 0 }),
      },
      add: { removed },
      // After a lost answer, the repeated call finds no lease, and so counts nothing twice.
      condition: expression`#holder = ${holder} AND attribute_exists(#until)`,
    })
  },
})

type Locks = Pick<FolderRemovals, 'lock' | 'unlock' | 'locksOf' | 'isOpenBelow'>

const createLocks = ({ table, now, read, readAll, update }: Items): Locks => ({
  async lock(site, folder, id, duration) {
    const until = now() + duration
    const expires = inSeconds(until + closedFor)
    const lock: RemovalItem = { site, path: removalKey(folder), id, closed: false, lock: true, until, expires }
    return (await table.put(lock, { condition: isFreeAt(now()) })) || isOwnWrite(id, (await read(site, folder))?.id)
  },

  async unlock(site, path, id) {
    await update({ site, path, id }, { set: { closed: true } })
  },

  async locksOf(site, folders) {
    const silent = now() - longestSilence
    const found = await readAll(site, folders)
    const open = found.flatMap(({ path, id, isClosed, heartbeat, isRestoreLock }) =>
      isClosed ? [] : [{ path, id, hasWorker: heartbeat > silent, isRestoreLock }],
    )
    return { open, ids: new Set(found.map(({ id }) => id)) }
  },

  isOpenBelow(site, folder) {
    const isCurrent = expression`${isOpen} AND (attribute_not_exists(#lock) OR #until > ${now()})`
    return isAnyBelow(table, site, removalKey, folder, isCurrent)
  },
})

export const createFolderRemovals = (options: RecordingOptions & { readonly keptDays?: number | undefined }) => {
  const { record, keptDays = 30, now = Date.now } = options
  const items = openItems(options, now)
  const records = createRecords(options, now, keptDays)
  return {
    ...createRemovals(items, record, records.note),
    ...createLocks(items),
    ...records,

    /**
     * `age` and `idle` are the milliseconds since the removal began, and since its last progress. `attempts` is the
     * number of attempts since that progress.
     */
    async progressOf({ site, path, id }: RemovalTask) {
      const removal = await items.read(site, path)
      if (removal?.id !== id || removal.isClosed) return undefined
      const { began, progressed = began, attempts } = removal
      return { age: now() - began, idle: now() - progressed, attempts }
    },
  } satisfies FolderRemovals & Readonly<Record<string, unknown>>
}

export type ObservedRemovals = ReturnType<typeof createFolderRemovals>
