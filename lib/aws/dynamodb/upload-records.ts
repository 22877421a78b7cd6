import { storedId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Holding, Target, Upload } from '../../storage/uploads/upload.ts'
import type { Progress, UploadRecords } from '../../storage/uploads/upload-stores.ts'
import { type Attributes, type ItemChange, openTable, type Table, type TableOptions } from './dynamodb.ts'

// The MD5 sums of all parts in a row: at most 640 of them, or 10 KiB.
interface StoredHolding extends Pick<Holding, 'name' | 'tail'> {
  readonly parts: Uint8Array
}

const storedHolding = ({ name, parts, tail }: Holding): StoredHolding => ({
  name,
  parts: Buffer.from(parts.join(''), 'hex'),
  tail,
})

interface Item {
  readonly site: number
  readonly user: string
  readonly target: Target
  readonly metadata: string
  readonly limit: number
  readonly length: number | null
  readonly offset: number
  readonly complete: boolean
  readonly created: number
  readonly ends: number
  readonly holding: StoredHolding | null
  readonly holder?: string
  readonly until?: number
}

export const itemOf = ({ isComplete, expires, holding, id: _, ...rest }: Upload): Item => ({
  ...rest,
  holding: holding && storedHolding(holding),
  complete: isComplete,
  ends: expires,
})

const damaged = (name: string): Error => new Error(`The record of an upload has no ${name}`)

const isStored = (value: unknown): value is Attributes => typeof value === 'object' && value !== null

const textIn = (stored: Attributes, name: string): string => {
  const value = stored[name]
  if (typeof value !== 'string') throw damaged(name)
  return value
}

const numberIn = (stored: Attributes, name: string): number => {
  const value = stored[name]
  if (typeof value !== 'number') throw damaged(name)
  return value
}

const optionalIn = <Name extends string>(stored: Attributes, name: Name): Partial<Record<Name, string>> => {
  const value: Partial<Record<Name, string>> = {}
  if (stored[name] !== undefined) value[name] = textIn(stored, name)
  return value
}

const targetIn = ({ target }: Attributes): Target => {
  if (!isStored(target)) throw damaged('target')
  return {
    path: textIn(target, 'path'),
    asDraft: target['asDraft'] === true,
    key: textIn(target, 'key'),
    contentType: textIn(target, 'contentType'),
    ...(target['keepsDraft'] !== undefined && { keepsDraft: target['keepsDraft'] === true }),
    ...optionalIn(target, 'folder'),
    ...optionalIn(target, 'ifMatch'),
    ...optionalIn(target, 'ifNoneMatch'),
  }
}

const holdingIn = ({ holding }: Attributes): Holding | null => {
  if (holding === null) return null
  if (!isStored(holding) || !(holding['parts'] instanceof Uint8Array)) throw damaged('holding')
  return {
    name: textIn(holding, 'name'),
    parts: Buffer.from(holding['parts']).toString('hex').match(/.{32}/g) ?? [],
    tail: holding['tail'] === null ? null : textIn(holding, 'tail'),
  }
}

/** Throws an Error when the item is damaged. */
export const toUpload = (id: string, stored: Attributes): Upload => ({
  id,
  site: storedId(stored['site']),
  user: textIn(stored, 'user'),
  target: targetIn(stored),
  metadata: textIn(stored, 'metadata'),
  limit: numberIn(stored, 'limit'),
  length: stored['length'] === null ? null : numberIn(stored, 'length'),
  offset: numberIn(stored, 'offset'),
  isComplete: stored['complete'] === true,
  created: numberIn(stored, 'created'),
  expires: numberIn(stored, 'ends'),
  holding: holdingIn(stored),
})

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
