import type { Readable } from 'node:stream'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'
import type { StoragePath } from './path.ts'

/**
 * The port to stored objects, in the order of the UTF-8 bytes of their keys. The zero-byte object `a/b/` is a folder.
 * Sizes are in bytes, times in milliseconds since the epoch. Every adapter passes the same contract suite. Errors of
 * every call: unavailable, when repeating the call may help.
 */
export interface ObjectStore {
  find(key: string): Promise<ObjectInfo | undefined>
  /**
   * Reads an object, and the bytes of the same state that `choose` selects. `expected` is the likely `Range` (RFC 9110,
   * section 14). A store may request this range at once.
   */
  read(key: string, choose: ChooseBytes, expected?: string): Promise<ReadObject | undefined>
  exists(prefix: string): Promise<boolean>
  list(query: ListQuery): Promise<Listing>
  /**
   * Brings an index of names up to date, and returns its search: it finds objects whose names contain a text of three
   * characters or more (case-folded), in the order of the index. Without an index, or if this would take too long,
   * returns undefined: then list the keys instead.
   */
  indexNames?(): Promise<((query: NameQuery) => Promise<NamePage>) | undefined>
  /** Computes a missing fingerprint. Null when the time is up or the object no longer exists. */
  fingerprintOf(object: ObjectInfo, deadline: Deadline): Promise<string | null>
  /** Stores bytes without making them visible. If `content` fails, throws its error and leaves nothing behind. */
  stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged>
  /** Makes all changes visible together, or none. If two calls conflict, at most one succeeds. */
  place(changes: readonly Change[], conditions: PlaceConditions, entry: HistoryEntry): Promise<PlaceOutcome>
  /** The current version and the kept old versions, the newest first. Undefined when the version `after` is unknown. */
  versions(key: string, query: VersionsQuery): Promise<Versions | undefined>
  /** Undefined when the version is unknown or no longer kept. */
  readVersion(key: string, id: string, choose: ChooseBytes): Promise<ReadObject | undefined>
  /**
   * Deletes old versions for good, and adds their number to the entry. When the time is up, returns the number of
   * versions that are left. The caller has locked the path of a removed object, so that nothing restores it meanwhile.
   */
  purge(versions: readonly RemovedObject[], entry: HistoryEntry, deadline: Deadline): Promise<number>
  listRemoved(query: RemovedQuery): Promise<RemovedListing>
  /** The objects that were removed below a prefix in a period, in the state before their removal. */
  removedWithin(prefix: string, period: Period): AsyncIterable<readonly RemovedObject[]>
  keptBelow(prefix: string): Promise<Kept>
  /**
   * Removes objects unless they were replaced since they were listed. Throws when a removal fails. The entry is written
   * if the call has removed an object. A step of a removal has no entry; where one transaction covers both, its objects
   * are counted in the record of the removal. Errors: unavailable when the time is up; nothing happens after this error.
   */
  remove(objects: readonly RemovableObject[], options?: RemoveOptions): Promise<Removal>
}

interface RemoveOptions {
  readonly entry?: HistoryEntry | undefined
  readonly deadline?: Deadline | undefined
  readonly removedFolder?: RemovedFolder | undefined
  readonly step?: RemovalTask
}

/**
 * `bytes` are certainly removed. `spared` has the keys of objects that other callers have replaced or removed. With
 * `isStale`, nothing was removed, because the folder has objects that were not listed. A store without transactions does
 * not look for such objects.
 */
interface Removal {
  readonly bytes: number
  readonly spared: ReadonlySet<string>
  readonly isStale?: boolean
}

export type RemovableObject = Pick<ListedObject, 'key' | 'version' | 'size'>

/**
 * A folder whose objects are removed. The store records this removal for restores (H-21), so that a crash loses no
 * record. `since` is a moment before the objects were listed.
 */
export interface RemovedFolder {
  readonly site: SiteId
  readonly folder: StoragePath
  readonly since: number
}

export interface RemovalTask {
  readonly site: SiteId
  readonly path: StoragePath
  readonly id: string
}

export interface ListedObject {
  readonly key: string
  readonly size: number
  readonly modified: number
  readonly version: string
  /** Equal for equal bytes (S-82, S-83). Null while it is unknown. */
  readonly fingerprint: string | null
}

export interface ObjectInfo extends ListedObject {
  readonly contentType: string
  readonly versionId?: string
}

/**
 * At `goneAt`, this version was removed or replaced; the current version has no `goneAt`. Until `neededUntil`, an undo
 * may bring the version back, so it must not be purged. Only a query `forPurge` returns it.
 */
export interface ObjectVersion {
  readonly id: string
  readonly at: number
  readonly size: number
  readonly isCurrent: boolean
  readonly isRemoved: boolean
  readonly goneAt?: number
  readonly neededUntil?: number
  readonly hiddenBy?: readonly string[]
  readonly tag?: string
}

export interface VersionQuery {
  readonly after?: string | undefined
  readonly limit: number
}

interface VersionsQuery extends VersionQuery {
  readonly forPurge?: boolean
}

interface Versions {
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

/** Lists only keys after the key `after`. If this key ends with a slash, also skips everything below it. */
export interface RemovedQuery extends VersionQuery {
  readonly prefix: string
}

export interface RemovedEntry {
  readonly key: string
  readonly removedAt: number
  readonly size: number | null
}

export interface RemovedListing {
  readonly entries: readonly RemovedEntry[]
  /** Undefined at the end of the list. A page before the end may be short or empty. */
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

export interface ListQuery extends VersionQuery {
  readonly prefix: string
  readonly folded: boolean
}

export interface Listing {
  readonly objects: readonly ListedObject[]
  readonly folders: readonly string[]
  readonly next: string | undefined
}

export interface NameQuery extends VersionQuery {
  readonly prefix: string
  readonly text: string
}

export type NamePage = Pick<Listing, 'objects' | 'next'>

export interface StageTarget {
  /** Undefined while the key is unknown. In this case, `place` may have to copy the object. */
  readonly key: string | undefined
  readonly contentType: string
}

/** The quota counts the `reserved` bytes already. `discard` may be called twice, or after `place`. */
export interface Staged {
  readonly size: number
  readonly reserved?: number
  discard(): Promise<void>
}

export interface Transfer {
  readonly kind: 'move' | 'copy'
  readonly from: RemovableObject
  readonly key: string
  readonly contentType?: string
}

/**
 * Stores a version again, and keeps the version that it replaces. An old version needs a lock of its path, and the
 * current version needs its state in `matching`.
 */
export interface Restoration extends RemovedObject {
  readonly kind: 'restore'
}

/**
 * A transfer needs a free destination and an unchanged source. A restoration needs a version that is still kept.
 * Existing folders, and missing objects that are to be removed, are not an error.
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
  /** Keys that must still have these states. If two changes replace the same state, one of them succeeds. */
  readonly matching?: readonly Expected[]
  /**
   * Keys that must be free. If a key ends with a slash, everything below it must be free too. The keys of `absentIfNew`
   * must be free if a folder of `present` is new: until the caller that creates this folder has succeeded, the store may
   * remove it again.
   */
  readonly absent: readonly string[]
  readonly present?: readonly string[]
  readonly absentIfNew?: readonly string[]
  /** Folders that must not be locked before or while the changes are placed. */
  readonly unlocked: {
    readonly site: SiteId
    readonly folders: readonly StoragePath[]
    readonly lockId?: string | undefined
    /**
     * The locks of these folders, as an earlier look found them. This look also checked every condition. So a store
     * needs only one more check, after it has placed the changes.
     */
    readonly seen?: ReadonlySet<string> | undefined
  }
  readonly deadline?: Deadline
  readonly removedFolder?: RemovedFolder | undefined
}

/**
 * If a store writes the history entry after the changes, `recorded` ends with that call, and the caller waits for it
 * before the answer. Without `placed`, nothing was changed. `occupied` means that a key is not free, and `stale` that a
 * source has changed, a key of `present` no longer exists, or an object of the moved folder was not listed. `late` means
 * that the time is up, `locked` that a folder is locked, and `changed` that a state of `matching` differs.
 */
export type PlaceOutcome =
  | { readonly outcome: 'placed'; readonly recorded?: Promise<void> }
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
