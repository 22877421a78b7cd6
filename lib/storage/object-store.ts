import type { Readable } from 'node:stream'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { StoragePath } from './path.ts'

/**
 * The port to what holds the bytes: objects under keys, in the order of their keys' UTF-8 bytes. `/` separates what
 * people see as folders; the zero-byte object `a/b/` is the folder itself. Every adapter passes the same contract
 * suite. Errors of every call: unavailable when repeating it may help.
 */
export interface ObjectStore {
  find(key: string): Promise<ObjectInfo | undefined>
  /**
   * Reads what the object is and, in the same state of it, the bytes that `choose` asks for; without a range there is
   * no stream. `expected` is what `choose` will most likely ask for, as a `Range` of one range (RFC 9110, section 14):
   * a store may ask for it at once.
   */
  read(
    key: string,
    choose: (info: ObjectInfo) => ByteRange | undefined,
    expected?: string,
  ): Promise<ReadObject | undefined>
  exists(prefix: string): Promise<boolean>
  list(query: ListQuery): Promise<Listing>
  /**
   * The fingerprint of an object, as `find` or `read` has described it. Where it is not known yet, it is made
   * meanwhile: null when that takes longer than the time that is left, or when the object has gone.
   */
  fingerprintOf(object: ObjectInfo, remainingTime: RemainingTime): Promise<string | null>
  /**
   * Takes bytes in without making anything visible. When `content` fails, nothing is left of it and its error comes
   * through.
   */
  stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged>
  /**
   * Makes changes visible together, or none of them: when something stands in the way, when the time is up, or when it
   * fails half-way. Two that get in each other's way at the very same time are never both placed.
   */
  place(changes: readonly Change[], conditions: PlaceConditions, entry: HistoryEntry): Promise<PlaceOutcome>
  /**
   * The states of the object at a key that there are: the present one, and those that are kept, the newest first.
   * Undefined when `after` is none of them.
   */
  versions(key: string, query: VersionQuery): Promise<Versions | undefined>
  /** `read` for one of its states. Undefined when there is no such state, or it is kept no longer. */
  readVersion(
    key: string,
    id: string,
    choose: (info: ObjectInfo) => ByteRange | undefined,
  ): Promise<ReadObject | undefined>
  listRemoved(query: RemovedQuery): Promise<RemovedListing>
  /**
   * The objects below a prefix that were removed between two moments, whether something is there again or not, each as
   * it was then.
   */
  removedWithin(prefix: string, period: Period): AsyncIterable<readonly RemovedObject[]>
  keptBelow(prefix: string): Promise<Kept>
  /**
   * Removes these objects, but none that has been replaced since it was listed. Throws when one could not be removed.
   * Without an entry it is a step of a folder's removal, which has its own (`FolderRemovals`). When the time is up, it
   * throws `unavailable`, and nothing of it goes on.
   */
  remove(
    objects: readonly Pick<ListedObject, 'key' | 'version'>[],
    entry: HistoryEntry | undefined,
    remainingTime?: RemainingTime,
  ): Promise<void>
}

export interface ListedObject {
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
  /** Names this very state of the object. */
  readonly version: string
  /** Equal for equal bytes (S-82, S-83); null while unknown. */
  readonly fingerprint: string | null
}

export interface ObjectInfo extends ListedObject {
  readonly contentType: string
  readonly versionId?: string
}

/** A state that an object is or was in. */
export interface ObjectVersion {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Bytes. */
  readonly size: number
  readonly isCurrent: boolean
  readonly isRemoved: boolean
  /** The time of its removal or replacement, in milliseconds since the epoch; undefined for the present one. */
  readonly goneAt?: number
  readonly hiddenBy?: readonly string[]
  readonly tag?: string
}

export interface VersionQuery {
  /** Only states that are older than this one. */
  readonly after?: string | undefined
  /** 1 to 1,000. */
  readonly limit: number
}

export interface Versions {
  readonly versions: readonly ObjectVersion[]
  /** Undefined at the end. */
  readonly next: string | undefined
}

/** Old states of objects: how many there are, and how many bytes they have in all. */
export interface Kept {
  readonly count: number
  readonly bytes: number
}

/** From one moment to another, both of it, in milliseconds since the epoch. */
export interface Period {
  readonly from: number
  readonly to: number
}

export interface RemovedQuery {
  /** Ends in `/`. */
  readonly prefix: string
  /** Only what comes behind this key, or behind everything below it when it ends in `/`. */
  readonly after?: string | undefined
  /** 1 to 1,000. */
  readonly limit: number
}

/** An object, or a folder by its key with the slash at its end, of which nothing is there any more. */
export interface RemovedEntry {
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly removedAt: number
  /** Bytes; null for a folder. */
  readonly size: number | null
}

export interface RemovedListing {
  readonly entries: readonly RemovedEntry[]
  /** Undefined at the end. A page may have fewer entries than asked for, or none, although more follow. */
  readonly next: string | undefined
}

/** An object as it was when it was removed. */
export interface RemovedObject extends Pick<ObjectVersion, 'id' | 'hiddenBy' | 'tag'> {
  readonly key: string
}

/** Offsets of the first and the last byte. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface ReadObject {
  readonly info: ObjectInfo
  /** Few bytes come as they are. */
  readonly body?: Readable | Uint8Array
}

export interface ListQuery {
  /** Ends in `/`. */
  readonly prefix: string
  readonly folded: boolean
  /** Only what comes behind this key, or behind everything below it when it ends in `/`. */
  readonly after?: string | undefined
  /** 1 to 1,000. */
  readonly limit: number
}

export interface Listing {
  readonly objects: readonly ListedObject[]
  /** Keys of folders, with the slash at their end. */
  readonly folders: readonly string[]
  /** Undefined at the end. */
  readonly next: string | undefined
}

export interface StageTarget {
  /** Undefined when that is not known yet, which may cost a copy. */
  readonly key: string | undefined
  readonly contentType: string
}

/** Bytes that wait to be put in place. */
export interface Staged {
  readonly size: number
  /** Lets go of them. Harmless when they have been put in place, or let go of before. */
  discard(): Promise<void>
}

/**
 * An object gets another key, or comes to be there a second time, as an object of its own that was made at that moment.
 */
export interface Transfer {
  readonly kind: 'move' | 'copy'
  readonly from: Pick<ListedObject, 'key' | 'version'>
  readonly key: string
  /** Without it the type stays as it is. */
  readonly contentType?: string
}

/**
 * An object is again as it was in an earlier state, whatever is there now: that is kept like anything that is replaced.
 */
export interface Restoration extends RemovedObject {
  readonly kind: 'restore'
}

/**
 * A move or a copy needs a free destination, and a source that is still in the version that it was listed in; a folder
 * is created when it is missing; removing what is not there is fine; what is restored must still be kept, or it is
 * stale.
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
  /** Keys with their expected state. Of two changes that expect the same state and replace it, one is placed. */
  readonly matching?: readonly Expected[]
  /** Keys that must be free; for one that ends in `/`, everything below it too. */
  readonly absent: readonly string[]
  /** Keys that must still exist when the changes are placed; otherwise they are stale. */
  readonly standing?: readonly string[]
  /** Folders of a site of which none may be going: a removal is open for it, or was while the changes were placed. */
  readonly staying: {
    readonly site: SiteId
    readonly folders: readonly StoragePath[]
    /** The caller's own lock does not block it. */
    readonly holding?: string | undefined
  }
  readonly remainingTime?: RemainingTime
}

/**
 * Unless they are placed, nothing was changed: there is something at `key` already (rival); what was to be moved or
 * copied from `key` has been replaced or removed since it was listed, or nothing stands there any more (stale); the
 * time was up (late); a folder is being removed (going); at `key` there is something else than what `matching` says
 * (changed).
 */
export type PlaceOutcome =
  | { readonly outcome: 'placed' }
  | { readonly outcome: 'rival'; readonly key: string }
  | { readonly outcome: 'stale'; readonly key: string }
  | { readonly outcome: 'late' }
  | { readonly outcome: 'going' }
  | { readonly outcome: 'changed'; readonly key: string }

/**
 * Thrown by an adapter from within an attempt to place changes, so that nothing of it stays: `place` answers what it
 * holds.
 */
export class NotPlaced extends Error {
  readonly outcome: Exclude<PlaceOutcome, { outcome: 'placed' }>
  constructor(outcome: NotPlaced['outcome']) {
    super(outcome.outcome)
    this.outcome = outcome
  }
}

export const longestListing = 1000

/** Every object below a prefix, listing by listing; the next one is asked for while this one is worked on. */
export async function* listAll(
  store: Pick<ObjectStore, 'list'>,
  prefix: string,
): AsyncGenerator<readonly ListedObject[], void> {
  const list = (after?: string): Promise<Listing> => {
    const listing = store.list({ prefix, folded: false, limit: longestListing, after })
    // Its failure is seen when it is waited for; until then it is nobody's.
    listing.catch(() => {})
    return listing
  }
  for (let coming: Promise<Listing> | undefined = list(); coming; ) {
    const { objects, next }: Listing = await coming
    coming = next === undefined ? undefined : list(next)
    yield objects
  }
}
