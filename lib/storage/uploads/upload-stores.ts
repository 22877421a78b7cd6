import type { HistoryEntry } from '../../core/history-entry.ts'
import type { Deadline } from '../../core/time.ts'
import type { Claim, Staged } from '../object-store.ts'
import type { Durable, Holding, Progress, Target, Upload } from './upload.ts'

export interface UploadOwner extends Pick<Upload, 'site' | 'user'> {
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
 * The port to the records of uploads. Reads see earlier writes. Callers check whether an upload has expired. Errors of
 * every call: unavailable, and outOfSpace if the call writes.
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
   * answer has reported yet. False when the lease is lost.
   */
  renew(id: string, holder: string, duration: number, progress?: Progress): Promise<boolean>
  /** Stores the progress, and ends the lease unless `keeps` is set. False if the lease is lost. */
  advance(id: string, holder: string, progress: Progress, keeps: boolean): Promise<boolean>
  /** The first call writes the entry. A repetition with the same holder writes it again. */
  complete(id: string, holder: string, expires: number, entry: HistoryEntry, deadline?: Deadline): Promise<void>
  giveBack(id: string, holder: string): Promise<void>
  remove(id: string): Promise<Upload | undefined>
}

export type StoredUpload = Pick<Upload, 'id' | 'target'> & { readonly holding: Holding }

export type WholeUpload = StoredUpload & Pick<Upload, 'created'> & { readonly length: number }

export type ClaimedUpload = WholeUpload & { readonly claim: Claim }

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
  read(upload: WholeUpload): AsyncIterable<Uint8Array>
  /** After this call, earlier requests cannot place the bytes. Returns the new holding of the bytes. */
  takeOver(upload: WholeUpload): Promise<Holding>
  /** True when an earlier attempt placed the file, but ended before it recorded the placement. */
  isInPlace(upload: WholeUpload): Promise<boolean>
  /** The bytes for `place`. They stay until they are placed or removed, so another attempt may request them again. */
  whole(upload: ClaimedUpload): Promise<Staged>
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
  readonly tag: string
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
