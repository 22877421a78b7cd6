import type { Readable } from 'node:stream'
import type { Deadline } from '../core/deadline.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { StoragePath } from './path.ts'

/**
 * The port to stored objects, in the order of their keys' UTF-8 bytes. The zero-byte object `a/b/` is a folder. Sizes
 * are bytes, times are milliseconds since the epoch. Every adapter passes the same contract suite. Errors of every
 * call: unavailable when repeating it may help.
 */
export interface ObjectStore {
  find(key: string): Promise<ObjectInfo | undefined>
  /**
   * Reads an object, and the bytes that `choose` selects from the same state. `expected`: the likely `Range` (RFC 9110,
   * section 14); a store may request it at once.
   */
  read(key: string, choose: ChooseBytes, expected?: string): Promise<ReadObject | undefined>
  exists(prefix: string): Promise<boolean>
  list(query: ListQuery): Promise<Listing>
  /** Brings an index of names up to date. False: it would take too long, so list instead. A store may have no index. */
  indexNames?(): Promise<boolean>
  /** Objects whose names contain a folded text of three characters or more, in the order of the index. */
  findNames?(query: NameQuery): Promise<NamePage>
  /** Computes a missing fingerprint. Null when the time is up or the object is gone. */
  fingerprintOf(object: ObjectInfo, deadline: Deadline): Promise<string | null>
  /** Stores bytes without making them visible. When `content` fails, throws its error and leaves nothing behind. */
  stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged>
  /** Makes all changes visible together, or none. At most one of two conflicting calls succeeds. */
  place(changes: readonly Change[], conditions: PlaceConditions, entry: HistoryEntry): Promise<PlaceOutcome>
  /** The current version and the kept ones, the newest first. Undefined when `after` is unknown. */
  versions(key: string, query: VersionQuery): Promise<Versions | undefined>
  /** Undefined when the version is unknown or no longer kept. */
  readVersion(key: string, id: string, choose: ChooseBytes): Promise<ReadObject | undefined>
  /**
   * Deletes old versions for good, and adds their number to the entry. Returns how many are left when the time is up. The
   * caller has locked the path of a removed object, so that nothing restores it meanwhile.
   */
  purge(versions: readonly RemovedObject[], entry: HistoryEntry, deadline: Deadline): Promise<number>
  listRemoved(query: RemovedQuery): Promise<RemovedListing>
  /** Objects below a prefix that were removed in a period, as they were then. */
  removedWithin(prefix: string, period: Period): AsyncIterable<readonly RemovedObject[]>
  keptBelow(prefix: string): Promise<Kept>
  /**
   * Removes objects unless they were replaced since they were listed. Throws when one fails. Without an entry, the call
   * is a step of a folder's removal. Returns the bytes that it has surely removed. Errors: unavailable when the time is
   * up; no call continues after it.
   */
  remove(
    objects: readonly RemovableObject[],
    entry: HistoryEntry | undefined,
    deadline?: Deadline,
    removedFolder?: RemovedFolder,
  ): Promise<number>
}

export type RemovableObject = Pick<ListedObject, 'key' | 'version' | 'size'>

/**
 * A folder whose objects are removed. The store records this for restores (H-21), so that a crash loses no record.
 * `since`: a moment before its objects were listed.
 */
export interface RemovedFolder {
  readonly site: SiteId
  readonly folder: StoragePath
  readonly since: number
}

export interface ListedObject {
  readonly key: string
  readonly size: number
  readonly modified: number
  readonly version: string
  /** Equal for equal bytes (S-82, S-83); null while unknown. */
  readonly fingerprint: string | null
}

export interface ObjectInfo extends ListedObject {
  readonly contentType: string
  readonly versionId?: string
}

export interface ObjectVersion {
  readonly id: string
  readonly at: number
  readonly size: number
  readonly isCurrent: boolean
  readonly isRemoved: boolean
  /** The time of its removal or replacement; undefined for the current one. */
  readonly goneAt?: number
  /** Until then, a change that is undone may bring it back, so it must not be purged. */
  readonly neededUntil?: number
  readonly hiddenBy?: readonly string[]
  readonly tag?: string
}

export interface VersionQuery {
  readonly after?: string | undefined
  readonly limit: number
}

export interface Versions {
  readonly versions: readonly ObjectVersion[]
  readonly next: string | undefined
}

export interface Kept {
  readonly count: number
  readonly bytes: number
}

export interface Period {
  readonly from: number
  readonly to: number
}

export interface RemovedQuery {
  readonly prefix: string
  /** Only keys after this one; with a slash at its end, also after everything below it. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface RemovedEntry {
  readonly key: string
  readonly removedAt: number
  readonly size: number | null
}

export interface RemovedListing {
  readonly entries: readonly RemovedEntry[]
  /** Undefined at the end. A page may be short or empty before that. */
  readonly next: string | undefined
}

export interface RemovedObject extends Pick<ObjectVersion, 'id' | 'size' | 'hiddenBy' | 'tag'> {
  readonly key: string
}

export interface ByteRange {
  readonly first: number
  readonly last: number
}

export type ChooseBytes = (info: ObjectInfo) => ByteRange | undefined

export interface ReadObject {
  readonly info: ObjectInfo
  readonly body?: Readable | Uint8Array
}

export interface ListQuery {
  readonly prefix: string
  readonly folded: boolean
  readonly after?: string | undefined
  readonly limit: number
}

export interface Listing {
  readonly objects: readonly ListedObject[]
  readonly folders: readonly string[]
  readonly next: string | undefined
}

interface NameQuery {
  readonly prefix: string
  readonly text: string
  /** The `next` of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface NamePage {
  readonly objects: readonly ListedObject[]
  /** Undefined at the end. A page may be short or empty before that. */
  readonly next: string | undefined
}

export interface StageTarget {
  /** Undefined when unknown, which may cost a copy. */
  readonly key: string | undefined
  readonly contentType: string
}

/** The claim of a request to place an upload, where no transaction covers the upload and its file (AWS). */
export interface Claim {
  /** False when another request may place the upload: what this one has placed stays. */
  isHeld(): Promise<boolean>
  /** Call it once the upload is placed. Of several requests, the first writes the entry. */
  complete(entry: HistoryEntry): Promise<void>
}

export interface Staged {
  readonly size: number
  /** Bytes that the quota counts already, for an upload. */
  readonly reserved?: number
  readonly claim?: Claim | undefined
  /** Safe to repeat, and after `place`. */
  discard(): Promise<void>
}

export interface Transfer {
  readonly kind: 'move' | 'copy'
  readonly from: RemovableObject
  readonly key: string
  readonly contentType?: string
}

/** Brings an old version back. The current one is kept as an old version. */
export interface Restoration extends RemovedObject {
  readonly kind: 'restore'
}

/**
 * A transfer needs a free destination and an unchanged source. A restoration needs a version that is still kept.
 * Folders may exist, and removed objects may be missing.
 */
export type Change =
  | { readonly kind: 'put'; readonly key: string; readonly staged: Staged }
  | { readonly kind: 'folder'; readonly key: string }
  | Transfer
  | Restoration
  | { readonly kind: 'remove'; readonly key: string }

export interface Expected {
  readonly key: string
  readonly version: string | undefined
}

export interface PlaceConditions {
  /** Keys with their expected state. If two changes replace the same state, one succeeds. */
  readonly matching?: readonly Expected[]
  /** Keys that must be free; with a slash at its end, also everything below it. */
  readonly absent: readonly string[]
  readonly present?: readonly string[]
  /** Folders that must not be locked before or while the changes are placed. */
  readonly unlocked: {
    readonly site: SiteId
    readonly folders: readonly StoragePath[]
    readonly lockId?: string | undefined
    /**
     * The locks of these folders at a look that has just checked every condition. A store may check only once more,
     * after it has placed the changes.
     */
    readonly seen?: ReadonlySet<string> | undefined
  }
  readonly deadline?: Deadline
  readonly removedFolder?: RemovedFolder | undefined
  /** A store whose history entry is another call makes this call beside it. It must not fail. */
  readonly besideEntry?: (() => Promise<void>) | undefined
}

/**
 * Nothing was changed unless `placed`. `occupied`: a key is not free. `stale`: a source has changed, or a key of
 * `present` is gone. `late`: the time is up. `locked`: a folder is locked. `changed`: a state of `matching` differs.
 */
export type PlaceOutcome =
  | { readonly outcome: 'placed' }
  | { readonly outcome: 'late' | 'locked' }
  | { readonly outcome: 'occupied' | 'stale' | 'changed'; readonly key: string }

/** Thrown inside an adapter to undo an attempt. */
export class NotPlaced extends Error {
  readonly outcome: Exclude<PlaceOutcome, { outcome: 'placed' }>
  constructor(outcome: NotPlaced['outcome']) {
    super(outcome.outcome)
    this.outcome = outcome
  }
}

export const longestListing = 1000

/** Lists page by page, keys after `from` if given, and requests the next page while this one is processed. */
export async function* listAll(
  store: Pick<ObjectStore, 'list'>,
  prefix: string,
  from?: string,
): AsyncGenerator<readonly ListedObject[], void> {
  const list = (after?: string): Promise<Listing> => {
    const listing = store.list({ prefix, folded: false, limit: longestListing, after })
    // Its failure is thrown when it is awaited; until then, nobody handles it.
    listing.catch(() => {})
    return listing
  }
  for (let coming: Promise<Listing> | undefined = list(from); coming; ) {
    const { objects, next }: Listing = await coming
    coming = next === undefined ? undefined : list(next)
    yield objects
  }
}
