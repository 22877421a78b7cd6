import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Deadline } from '../../core/time.ts'
import type { Staged } from '../object-store.ts'

/**
 * `parts` contains the entity tag of each whole part, and is empty when the bytes are in one piece. `tail` names the
 * bytes after the parts. For a direct upload, the store knows the parts, and `tail` names the bytes after an undone
 * placement. An earlier version began direct uploads without a tail. After a rollback, it would place an empty file if
 * the record of a whole upload had no tail.
 */
export interface Holding {
  readonly name: string
  readonly parts: readonly string[]
  readonly tail: string | null
}

export interface Target {
  readonly path: string
  readonly folder?: string | undefined
  readonly asDraft: boolean
  readonly keepsDraft?: boolean
  readonly isDirect?: boolean
  readonly key: string
  readonly contentType: string
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
}

/**
 * Times are in milliseconds since the epoch, sizes in bytes. An upload that has all of its bytes is complete when its
 * file is placed.
 */
export interface Upload {
  readonly id: string
  readonly site: SiteId
  readonly user: string
  readonly target: Target
  readonly metadata: string
  readonly limit: number
  readonly length: number | null
  readonly offset: number
  readonly isComplete: boolean
  readonly created: number
  readonly expires: number
  readonly holding: Holding | null
}

/** The durable bytes of an append so far: their number and their holding. The store keeps both up to date. */
export interface Durable {
  size: number
  holding: Holding
}

export type Progress = Pick<Upload, 'offset' | 'length' | 'expires'> & { readonly holding: Holding }

const minute = 60_000
const day = 24 * 60 * minute

export const longestRequest = 15 * minute

const openFor = day
const oldest = 6 * day

export const longestUpload = oldest + longestRequest

/** The bytes of a direct upload do not pass through the service, so they cannot extend its time. */
export const firstExpiryOf = (created: number, isDirect: boolean): number => created + (isDirect ? oldest : openFor)

export const expiryOfComplete = (now: number): number => now + day

export const progressOf = (upload: Upload, { size, holding }: Durable, now: number): Progress => ({
  offset: upload.offset + size,
  length: upload.length,
  expires: Math.min(now + openFor, upload.created + oldest),
  holding,
})

export const isWaiting = ({ length, offset, isComplete }: Upload): boolean => !isComplete && offset === length

/** S-122: the bytes that the quota counts for the upload. */
export const countedBytes = ({ length, offset }: Pick<Upload, 'length' | 'offset'>): number => length ?? offset

export const holdingOf = ({ id, holding }: Pick<Upload, 'id' | 'holding'>): Holding => {
  if (!holding) throw new Error(`The record of the upload ${id} does not say where its bytes are`)
  return holding
}

export const checksumAlgorithms = ['sha256', 'sha1', 'md5'] as const

export interface Checksum {
  readonly algorithm: (typeof checksumAlgorithms)[number]
  readonly value: Buffer
}

export interface Addition {
  readonly offset: number
  readonly length?: number | undefined
  readonly declared?: number | undefined
  readonly checksum?: Checksum | undefined
  readonly content: AsyncIterable<Uint8Array>
}

export type Announcement = Omit<Addition, 'content'>

interface UploadOwner extends Pick<Upload, 'site' | 'user'> {
  readonly now: number
}

export const isOf = (owner: UploadOwner | undefined, { site, user, expires }: Upload): boolean =>
  !owner || (site === owner.site && user === owner.user && expires > owner.now)

/** `left` is in milliseconds. `moved` means that the offset differs, or that the upload is complete. */
export type TakeOutcome =
  | { readonly outcome: 'taken'; readonly upload: Upload }
  | { readonly outcome: 'held'; readonly left: number }
  | { readonly outcome: 'moved' }
  | { readonly outcome: 'gone' }

/**
 * The port to the records of uploads. Reads see earlier writes. Callers check whether an upload has expired. Where the
 * quota is known without a reservation, `requireRoom` returns the bytes that it leaves to a site, if it limits the site.
 * Errors of every call: unavailable, and outOfSpace if the call writes; of `requireRoom`: quotaExceeded.
 */
export interface UploadRecords {
  /** False when the user already has `most` open uploads on the site, without those that have expired at `now`. */
  create(upload: Upload, most: number, now: number): Promise<boolean>
  get(id: string): Promise<Upload | undefined>
  /**
   * Gives the lease of an upload at an offset, for some milliseconds. With `owner`, the outcome is `gone` for an upload
   * of another owner and for an expired upload.
   */
  take(id: string, offset: number, holder: string, duration: number, owner?: UploadOwner): Promise<TakeOutcome>
  /**
   * Extends the lease. This works even after its end, if nobody else has taken the lease. Records progress that no
   * answer has reported yet, unless newer progress is recorded. False when the lease is lost.
   */
  renew(id: string, holder: string, duration: number, progress?: Progress): Promise<boolean>
  /** Stores the progress, and ends the lease unless `keepsLease`. False if the lease is lost. */
  advance(id: string, holder: string, progress: Progress, keepsLease: boolean): Promise<boolean>
  /** Undefined if a transaction covers the upload and its file. Each renewal is for `duration` milliseconds. */
  claim(id: string, holder: string, duration: () => number): Claim | undefined
  requireRoom?(site: SiteId, bytes: number): Promise<number | undefined>
  giveBack(id: string, holder: string): Promise<void>
  remove(id: string): Promise<Upload | undefined>
}

/**
 * The right of a request with the lease to place an upload, where no transaction covers the upload and its file (AWS).
 * After a refused renewal, another request may place the upload, so the placement must not be undone. `complete` records
 * that the upload is placed, and ends the lease. Its first caller writes the entry, and so does a repetition of the call.
 * Errors of both: unavailable.
 */
export interface Claim {
  renew(): Promise<boolean>
  complete(entry: HistoryEntry, deadline?: Deadline): Promise<void>
}

export type StoredUpload = Pick<Upload, 'id' | 'target'> & { readonly holding: Holding }

export type WholeUpload = StoredUpload & Pick<Upload, 'created'> & { readonly length: number }

/**
 * The port to the bytes of uploads. Bytes after the recorded offset do not count and are overwritten, so a crash loses
 * no confirmed byte. Errors of every call: unavailable, and outOfSpace if the call writes.
 */
export interface UploadParts {
  begin(target: Target): Promise<Holding>
  /**
   * Overwrites from the offset on. The bytes that the result counts are durable. Returns an error of the content, but
   * throws an error of the store.
   */
  append(
    upload: StoredUpload & Pick<Upload, 'length'>,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    durable: Durable,
    isOver: () => boolean,
  ): Promise<Readonly<Durable> & { readonly failure?: unknown }>
  /** Drops the bytes after the first `length`. Undefined where bytes that do not count are removed with the upload. */
  cut?(holding: Holding, length: number): Promise<void>
  read(upload: WholeUpload): AsyncIterable<Uint8Array>
  /**
   * After this call, earlier requests cannot place the bytes. Returns the new holding of the bytes. Undefined when an
   * earlier attempt placed the file, but ended before it recorded the placement.
   */
  takeOver(upload: WholeUpload): Promise<Holding | undefined>
  /** The bytes for `place`. They stay until they are placed or removed, so another attempt may request them again. */
  whole(upload: WholeUpload, claim?: Claim): Promise<Staged>
  remove(upload: StoredUpload): Promise<void>
}

export interface WantedPart {
  readonly number: number
  readonly sha256: string
}

export interface PartAddress {
  readonly number: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface StoredPart {
  readonly number: number
  readonly size: number
}

/**
 * The port to uploads whose parts callers send to the store themselves. All parts but the last have `partLength` bytes.
 * Digests are in hex. Until an address expires, it accepts the bytes with the right digest from anybody. Errors of
 * every call: unavailable; uploadUnknown, when the parts no longer exist.
 */
export interface DirectParts {
  begin(upload: { readonly id: string; readonly target: Target }): Promise<Holding>
  addressesOf(upload: StoredUpload, parts: readonly WantedPart[]): Promise<readonly PartAddress[]>
  stored(upload: StoredUpload): Promise<readonly StoredPart[]>
}
