import { inParallel } from '../../core/in-parallel.ts'
import type { Upload } from '../../storage/uploads/upload.ts'
import type { Progress, UploadRecords } from '../../storage/uploads/upload-stores.ts'
import { type Attributes, type ItemChange, openTable, type Table, type TableOptions } from './dynamodb.ts'
import { itemOf, storedHolding, toUpload } from './upload-item.ts'

interface Options extends TableOptions {
  // The wall clock.
  readonly now?: (() => number) | undefined
}

// The same table holds the progress of tokens, by their hashes.
const recordKey = (id: string) => ({ token: `upload#${id}` })
const openKey = ({ site, user }: Pick<Upload, 'site' | 'user'>) => ({ token: `open#${site}#${user}` })

// An upload lives for six days at most. In seconds.
const listKeptFor = 7 * 24 * 3600

const readsAtOnce = 16

const inSeconds = (moment: number): number => Math.ceil(moment / 1000)

type Owner = Pick<Upload, 'site' | 'user'>

/** The ids of the open uploads of one user of one site. */
const createOpenList = (table: Table, now: () => number) => {
  // Answers false when the list is full.
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
    const item = await table.get(openKey(owner))
    const ids: readonly string[] = item?.['ids'] instanceof Set ? [...item['ids']].map(String) : []
    const closed: string[] = []
    await inParallel(ids, readsAtOnce, async (id) => {
      const stored = await table.get(recordKey(id))
      if (stored?.['complete'] !== false || Number(stored['ends']) <= moment) closed.push(id)
    })
    await remove(owner, closed)
  }

  return { add, remove, prune }
}

const isOwn = '#holder = :holder AND #complete = :false'

const progressChange = ({ offset, length, expires, holding }: Progress) => ({
  update: 'SET #offset = :offset, #length = :length, #ends = :ends, #expires = :expires, #holding = :holding',
  values: {
    ':offset': offset,
    ':length': length,
    ':ends': expires,
    ':expires': inSeconds(expires),
    ':holding': storedHolding(holding),
  },
})

type Update = (id: string, change: ItemChange) => Promise<Attributes | undefined>

/** The lease of an append on an upload, and the progress that its holder makes. */
const createLeases = (
  table: Table,
  update: Update,
  now: () => number,
): Pick<UploadRecords, 'take' | 'renew' | 'advance' | 'note' | 'giveBack'> => {
  // Noted progress is stored with the next renewal, so it costs no call of its own.
  const noted = new Map<string, Progress>()
  const noteKey = (id: string, holder: string) => `${id} ${holder}`

  return {
    async take(id, offset, holder, duration) {
      const moment = now()
      const taken = await update(id, {
        update: 'SET #holder = :holder, #until = :until',
        // A repetition by the SDK finds its own holder.
        condition:
          '#offset = :offset AND #complete = :false AND (attribute_not_exists(#holder) OR #holder = :holder OR ' +
          '#until <= :now)',
        values: { ':holder': holder, ':until': moment + duration, ':offset': offset, ':false': false, ':now': moment },
      })
      if (taken) return { outcome: 'taken', upload: toUpload(id, taken) }
      const stored = await table.get(recordKey(id))
      if (!stored) return { outcome: 'unknown' }
      const left = Number(stored['until'] ?? 0) - moment
      return stored['holder'] !== undefined && left > 0 ? { outcome: 'held', left } : { outcome: 'moved' }
    },

    async renew(id, holder, duration) {
      const note = noted.get(noteKey(id, holder))
      const values = { ':holder': holder, ':false': false, ':until': now() + duration }
      if (!note) return (await update(id, { update: 'SET #until = :until', condition: isOwn, values })) !== undefined
      const progress = progressChange(note)
      const renewed = await update(id, {
        update: `${progress.update}, #until = :until`,
        // A late call must not undo newer progress.
        condition: `${isOwn} AND #offset <= :offset`,
        values: { ...progress.values, ...values },
      })
      if (noted.get(noteKey(id, holder)) === note) noted.delete(noteKey(id, holder))
      return renewed !== undefined
    },

    async advance(id, holder, progress, keeps) {
      noted.delete(noteKey(id, holder))
      const change = progressChange(progress)
      const advanced = await update(id, {
        update: keeps ? change.update : `${change.update} REMOVE #holder, #until`,
        condition: isOwn,
        values: { ...change.values, ':holder': holder, ':false': false },
      })
      return advanced !== undefined
    },

    async note(id, holder, progress) {
      noted.set(noteKey(id, holder), progress)
    },

    async giveBack(id, holder) {
      noted.delete(noteKey(id, holder))
      await update(id, {
        update: 'REMOVE #holder, #until',
        condition: '#holder = :holder',
        values: { ':holder': holder },
      })
    },
  }
}

/**
 * The records of uploads in the table Uploads. One conditional update takes the lease at the expected offset, another
 * one stores the progress: a crash between them loses nothing that was answered.
 */
export const createUploadRecords = ({ now = Date.now, ...options }: Options): UploadRecords => {
  const table = openTable(options)
  const openList = createOpenList(table, now)
  const update: Update = (id, change) => table.update(recordKey(id), { ...change, returns: 'ALL_NEW' })

  return {
    ...createLeases(table, update, now),

    async create(upload, most, moment) {
      if (!(await openList.add(upload, most))) {
        await openList.prune(upload, moment)
        if (!(await openList.add(upload, most))) return false
      }
      await table.put({ ...recordKey(upload.id), ...itemOf(upload), expires: inSeconds(upload.expires) })
      return true
    },

    async get(id) {
      const stored = await table.get(recordKey(id))
      return stored && toUpload(id, stored)
    },

    async complete(id, expires) {
      const stored = await update(id, {
        update: 'SET #complete = :true, #ends = :ends, #expires = :expires, #holding = :null REMOVE #holder, #until',
        condition: '#complete = :false',
        values: { ':true': true, ':false': false, ':ends': expires, ':expires': inSeconds(expires), ':null': null },
      })
      if (stored) await openList.remove(toUpload(id, stored), [id])
    },

    async remove(id) {
      const stored = await table.take(recordKey(id))
      if (!stored) return undefined
      const upload = toUpload(id, stored)
      await openList.remove(upload, [id])
      return upload.holding ?? undefined
    },
  }
}
