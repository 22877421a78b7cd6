import type { HistoryEntry } from '../../core/history-entry.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Deadline } from '../../core/time.ts'
import { progressKeptFor, type UploadProgress } from '../../storage/upload-progress.ts'
import {
  countedBytes,
  expiryOfComplete,
  type Holding,
  isOf,
  longestRequest,
  type Progress,
  type Upload,
  type UploadRecords,
} from '../../storage/uploads/upload.ts'
import { expression, inSeconds, mapped, openTable, scan, type Table, type TableOptions } from './dynamodb.ts'
import type { RecordingOptions } from './journal.ts'
import { createMark } from './write-mark.ts'

// `holder` has the lease until `until`, or had the last one if `until` is missing. `ends` is the expiry in milliseconds.
interface UploadItem extends Omit<Upload, 'id' | 'isComplete' | 'holding'> {
  readonly token: string
  readonly complete: boolean
  // The entity tags of all parts in binary, joined: at most 640 tags of 16 bytes, or 10 KiB.
  readonly holding: (Omit<Holding, 'parts'> & { readonly parts: Uint8Array }) | null
  readonly ends: number
  readonly holder?: string
  readonly until?: number | undefined
}

const progressColumns = ({ offset, length, expires, holding }: Pick<Upload, keyof Progress>) => ({
  offset,
  length,
  ends: expires,
  expires: inSeconds(expires),
  holding: holding && { ...holding, parts: Buffer.from(holding.parts.join(''), 'hex') },
})

const itemOf = ({ id, isComplete, ...upload }: Upload): UploadItem => ({
  ...upload,
  ...uploadKey(id),
  ...progressColumns(upload),
  complete: isComplete,
})

const toUpload = (id: string, item: UploadItem): Upload => {
  const { token: _, holder: _holder, until: _until, complete, ends, holding, ...upload } = item
  const tags = Buffer.from(holding?.parts ?? []).toString('hex')
  const parts = tags.match(/.{32}/g) ?? []
  return { ...upload, id, isComplete: complete, expires: ends, holding: holding && { ...holding, parts } }
}

const uploadKey = (id: string) => ({ token: `upload#${id}` })

type Owner = Pick<Upload, 'site' | 'user'>

const openKey = ({ site, user }: Owner) => ({ token: `open#${site}#${user}` })

const listKeptFor = 7 * 24 * 3600

const readsAtOnce = 16

const createOpenList = (options: TableOptions, uploads: Table<UploadItem>, now: () => number) => {
  const table = openTable<{ readonly token: string; readonly ids?: ReadonlySet<string> }>(options)

  const addOnce = async (upload: Upload, most: number): Promise<boolean> => {
    const listed = await table.update(openKey(upload), {
      set: { expires: inSeconds(now()) + listKeptFor },
      add: { ids: new Set([upload.id]) },
      condition: expression`attribute_not_exists(#ids) OR contains(#ids, ${upload.id}) OR size(#ids) < ${most}`,
    })
    return listed !== undefined
  }

  const remove = async (owner: Owner, ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return
    await table.update(openKey(owner), { drop: { ids: new Set(ids) } })
  }

  const prune = async (owner: Owner, moment: number): Promise<void> => {
    const { ids = [] } = (await table.get(openKey(owner))) ?? {}
    const closed: string[] = []
    await inParallel(ids, readsAtOnce, async (id) => {
      const stored = await uploads.get(uploadKey(id))
      if (!stored || stored.complete || stored.ends <= moment) closed.push(id)
    })
    await remove(owner, closed)
  }

  const add = async (upload: Upload, most: number, moment: number): Promise<boolean> => {
    if (await addOnce(upload, most)) return true
    await prune(upload, moment)
    return addOnce(upload, most)
  }

  return { add, remove }
}

const isOpen = expression`#complete = ${false}`
const isLeased = expression`attribute_exists(#until)`

const createUploadLeases = (
  table: Table<UploadItem>,
  now: () => number,
): Pick<UploadRecords, 'take' | 'renew' | 'advance' | 'giveBack'> => {
  const changeOwn = async (id: string, holder: string, set: Pick<UploadItem, 'until'>, condition = isLeased) => {
    const own = [isOpen, expression`#holder = ${holder}`, condition]
    return (await table.update(uploadKey(id), { set, condition: own })) !== undefined
  }

  return {
    async take(id, offset, holder, duration, owner) {
      const moment = now()
      const taken = await table.update(uploadKey(id), {
        set: { holder, until: moment + duration },
        condition: [
          isOpen,
          // When the SDK repeats the call, the repetition finds the holder that the first call has stored.
          expression`(attribute_not_exists(#until) OR #holder = ${holder} OR #until <= ${moment})`,
          expression`#offset = ${offset}`,
          owner && expression`#site = ${owner.site} AND #user = ${owner.user} AND #ends > ${owner.now}`,
        ],
        returns: 'ALL_NEW',
      })
      if (taken) return { outcome: 'taken', upload: toUpload(id, taken) }
      const stored = await table.get(uploadKey(id))
      if (!stored || !isOf(owner, toUpload(id, stored))) return { outcome: 'gone' }
      const left = (stored.until ?? 0) - moment
      return left > 0 ? { outcome: 'held', left } : { outcome: 'moved' }
    },

    async renew(id, holder, duration, progress) {
      const until = now() + duration
      if (!progress) return changeOwn(id, holder, { until })
      const condition = expression`${isLeased} AND #offset <= ${progress.offset}`
      return changeOwn(id, holder, { ...progressColumns(progress), until }, condition)
    },

    async advance(id, holder, progress, keepsLease) {
      const set = { ...progressColumns(progress), ...(!keepsLease && { until: undefined }) }
      // If a call is repeated after a lost answer, the lease has ended at this offset.
      return changeOwn(id, holder, set, expression`(${isLeased} OR #offset = ${progress.offset})`)
    },

    async giveBack(id, holder) {
      await changeOwn(id, holder, { until: undefined })
    },
  }
}

/**
 * The records of uploads in the table Uploads. One conditional update takes the lease at the expected offset, and
 * another one stores the progress, so a crash between them loses no confirmed byte.
 */
export const createUploadRecords = ({ now = Date.now, record, ...options }: RecordingOptions): UploadRecords => {
  const table = openTable<UploadItem>(options)
  const openList = createOpenList(options, table, now)
  const leases = createUploadLeases(table, now)

  const complete = async (id: string, holder: string, entry: HistoryEntry, deadline?: Deadline): Promise<void> => {
    const expires = expiryOfComplete(now())
    const completing = table.update(uploadKey(id), {
      set: { complete: true, holder, ends: expires, expires: inSeconds(expires), holding: null, until: undefined },
      condition: expression`${isOpen} OR #holder = ${holder}`,
      returns: 'ALL_NEW',
    })
    const stored = await completing.catch(async (error: unknown) => {
      const found = await table.get(uploadKey(id))
      // No later request of a complete upload writes the entry.
      if (found?.complete && found.holder === holder) return found
      throw error
    })
    // If the upload was cancelled while its file was placed, nobody else writes the entry.
    const isCancelled = !stored && !(await table.get(uploadKey(id)))
    await Promise.all([
      (stored || isCancelled) && record(entry, deadline),
      stored && openList.remove(toUpload(id, stored), [id]),
    ])
  }

  return {
    ...leases,

    async create(upload, most, moment) {
      let isListed = false
      try {
        // A listed upload without a record counts as closed, so the record comes first.
        await table.put(itemOf(upload))
        isListed = await openList.add(upload, most, moment)
      } finally {
        if (!isListed) await table.take(uploadKey(upload.id))
      }
      return isListed
    },

    get: async (id) => mapped(await table.get(uploadKey(id)), (stored) => toUpload(id, stored)),

    claim: (id, holder, duration) => ({
      renew: () => leases.renew(id, holder, duration()),
      complete: (entry, deadline) => complete(id, holder, entry, deadline),
    }),

    async remove(id) {
      const stored = await table.take(uploadKey(id))
      if (!stored) return undefined
      const upload = toUpload(id, stored)
      await openList.remove(upload, [id])
      return upload
    },
  }
}

/**
 * The bytes of the open uploads of each site. Reads the whole table, which has only the uploads of a week. A request that
 * began before the expiry of an upload may still complete the upload.
 */
export const countOpenUploads = async ({ now = Date.now, ...options }: TableOptions) => {
  const oldest = now() - longestRequest
  const bytes = new Map<number, number>()
  const open = await scan(openTable<UploadItem>(options), (item) =>
    item.complete === false && item.ends > oldest ? { site: item.site, counted: countedBytes(item) } : undefined,
  )
  for (const { site, counted } of open) bytes.set(site, (bytes.get(site) ?? 0) + counted)
  return bytes
}

export const createUploadProgress = ({ now = Date.now, ...options }: TableOptions): UploadProgress => {
  const table = openTable<{ readonly token: string; readonly percent: number; readonly expires: number }>(options)
  const expires = () => inSeconds(now() + progressKeptFor)

  return {
    // The order of arrival here decides which upload is the newest, because a clock may be set back. A repeated call
    // changes nothing: its mark is already the newest one, or the one before it.
    async begin({ token, id }, percent) {
      const mark = createMark()
      const set = { id, mark, percent, expires: expires(), before: expression`if_not_exists(#mark, ${''})` }
      const condition = expression`attribute_not_exists(#id) OR (#id <> ${id} AND #before <> ${mark})`
      await table.update({ token }, { set, condition })
    },

    async report({ token, id }, percent) {
      const condition = expression`#id = ${id} AND #percent < ${percent}`
      await table.update({ token }, { set: { percent, expires: expires() }, condition })
    },

    async percentOf(token) {
      const item = await table.get({ token })
      return item && item.expires * 1000 > now() ? item.percent : 0
    },
  }
}
