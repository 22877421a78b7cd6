import { inParallel } from '../../core/in-parallel.ts'
import type { Upload } from '../../storage/uploads/upload.ts'
import type { Progress, UploadRecords } from '../../storage/uploads/upload-stores.ts'
import { type ItemChange, inSeconds, openTable, type Table, type TableOptions } from './dynamodb.ts'
import { itemOf, storedHolding, toUpload, type UploadItem } from './upload-items.ts'

interface RecordItem extends UploadItem {
  readonly token: string
  // The lease.
  readonly holder?: string
  readonly until?: number
  readonly expires: number
}

// The same table has the progress of tokens, by their hashes.
const uploadKey = (id: string) => ({ token: `upload#${id}` })
const openKey = ({ site, user }: Pick<Upload, 'site' | 'user'>) => ({ token: `open#${site}#${user}` })

// An upload lives for six days at most. In seconds.
const listKeptFor = 7 * 24 * 3600

const readsAtOnce = 16

type Owner = Pick<Upload, 'site' | 'user'>

/** The ids of the open uploads of one user of one site. */
const createOpenList = (options: TableOptions, uploads: Table<RecordItem>, now: () => number) => {
  const table = openTable<{ readonly token: string; readonly ids?: ReadonlySet<string> }>(options)

  // Returns false when the list is full.
  const add = async (upload: Upload, most: number): Promise<boolean> => {
    const listed = await table.update(openKey(upload), {
      update: 'ADD #ids :id SET #expires = :expires',
      condition: 'attribute_not_exists(#ids) OR size(#ids) < :most',
      values: { ':id': new Set([upload.id]), ':most': most, ':expires': inSeconds(now()) + listKeptFor },
    })
    return listed !== undefined
  }

  const remove = async (owner: Owner, ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return
    await table.update(openKey(owner), { update: 'DELETE #ids :ids', values: { ':ids': new Set(ids) } })
  }

  // Removes expired and deleted uploads from a full list.
  const prune = async (owner: Owner, moment: number): Promise<void> => {
    const { ids = [] } = (await table.get(openKey(owner))) ?? {}
    const closed: string[] = []
    await inParallel(ids, readsAtOnce, async (id) => {
      const stored = await uploads.get(uploadKey(id))
      if (!stored || stored.complete || stored.ends <= moment) closed.push(id)
    })
    await remove(owner, closed)
  }

  return { add, remove, prune }
}

const whileHeld = '#holder = :holder AND #complete = :false'

const progressColumns = ({ offset, length, expires, holding }: Progress) => ({
  offset,
  length,
  ends: expires,
  expires: inSeconds(expires),
  holding: storedHolding(holding),
})

/** The lease of an append on an upload, and the progress that its holder makes. */
const createUploadLeases = (
  table: Table<RecordItem>,
  now: () => number,
): Pick<UploadRecords, 'take' | 'renew' | 'advance' | 'note' | 'giveBack'> => {
  // Progress is stored with the next renewal, so it costs no call of its own.
  const pendingProgress = new Map<string, Progress>()
  const leaseName = (id: string, holder: string) => `${id} ${holder}`

  // Returns false when the lease is lost.
  const changeHeld = async (id: string, holder: string, change: ItemChange) => {
    const held = { condition: whileHeld, values: { ':holder': holder, ':false': false } }
    return (await table.update(uploadKey(id), { ...held, ...change })) !== undefined
  }

  return {
    async take(id, offset, holder, duration) {
      const moment = now()
      const taken = await table.update(uploadKey(id), {
        set: { holder, until: moment + duration },
        // A repetition by the SDK finds its own holder.
        condition:
          '#offset = :offset AND #complete = :false AND (attribute_not_exists(#holder) OR #holder = :holder OR ' +
          '#until <= :now)',
        values: { ':offset': offset, ':false': false, ':now': moment },
        returns: 'ALL_NEW',
      })
      if (taken) return { outcome: 'taken', upload: toUpload(id, taken) }
      const stored = await table.get(uploadKey(id))
      if (!stored) return { outcome: 'unknown' }
      const left = (stored.until ?? 0) - moment
      return stored.holder !== undefined && left > 0 ? { outcome: 'held', left } : { outcome: 'moved' }
    },

    async renew(id, holder, duration) {
      const name = leaseName(id, holder)
      const progress = pendingProgress.get(name)
      const until = now() + duration
      if (!progress) return changeHeld(id, holder, { set: { until } })
      // A late call must not undo newer progress.
      const condition = `${whileHeld} AND #offset <= :offset`
      const isRenewed = await changeHeld(id, holder, { set: { ...progressColumns(progress), until }, condition })
      if (pendingProgress.get(name) === progress) pendingProgress.delete(name)
      return isRenewed
    },

    async advance(id, holder, progress, keepsLease) {
      pendingProgress.delete(leaseName(id, holder))
      const set = progressColumns(progress)
      return changeHeld(id, holder, keepsLease ? { set } : { set, update: 'REMOVE #holder, #until' })
    },

    async note(id, holder, progress) {
      pendingProgress.set(leaseName(id, holder), progress)
    },

    async giveBack(id, holder) {
      pendingProgress.delete(leaseName(id, holder))
      await table.update(uploadKey(id), {
        update: 'REMOVE #holder, #until',
        condition: '#holder = :holder',
        values: { ':holder': holder },
      })
    },
  }
}

/**
 * The records of uploads in the table Uploads. One conditional update takes the lease at the expected offset, another
 * one stores the progress: a crash between them loses no confirmed byte.
 */
export const createUploadRecords = ({ now = Date.now, ...options }: TableOptions): UploadRecords => {
  const table = openTable<RecordItem>(options)
  const openList = createOpenList(options, table, now)

  return {
    ...createUploadLeases(table, now),

    async create(upload, most, moment) {
      if (!(await openList.add(upload, most))) {
        await openList.prune(upload, moment)
        if (!(await openList.add(upload, most))) return false
      }
      await table.put({ ...uploadKey(upload.id), ...itemOf(upload), expires: inSeconds(upload.expires) })
      return true
    },

    async get(id) {
      const stored = await table.get(uploadKey(id))
      return stored && toUpload(id, stored)
    },

    async complete(id, expires) {
      const stored = await table.update(uploadKey(id), {
        set: { complete: true, ends: expires, expires: inSeconds(expires), holding: null },
        update: 'REMOVE #holder, #until',
        condition: '#complete = :false',
        values: { ':false': false },
        returns: 'ALL_NEW',
      })
      if (stored) await openList.remove(toUpload(id, stored), [id])
    },

    async remove(id) {
      const stored = await table.take(uploadKey(id))
      if (!stored) return undefined
      const upload = toUpload(id, stored)
      await openList.remove(upload, [id])
      return upload.holding ?? undefined
    },
  }
}
