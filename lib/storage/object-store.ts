import type { Readable } from 'node:stream'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { StoragePath } from './path.ts'

/**
 * The port to what holds the bytes: objects under keys, in the order of their keys' UTF-8 bytes. `/` separates what people see
 * as folders; the zero-byte object `a/b/` is the folder itself. Every adapter passes the same contract suite.
 * Errors of every call: unavailable when repeating it may help.
 */
export interface ObjectStore {
  find(key: string): Promise<ObjectInfo | undefined>
  /**
   * Reads what the object is and, in the same state of it, the bytes that `choose` asks for; without a range there is no stream.
   * `expected` is what `choose` will most likely ask for, as a `Range` of one range (RFC 9110, section 14): a store may ask for it at once.
   */
  read(
    key: string,
    choose: (info: ObjectInfo) => ByteRange | undefined,
    expected?: string,
  ): Promise<ReadObject | undefined>
  /** Whether there is anything at a prefix or below it. */
  exists(prefix: string): Promise<boolean>
  list(query: ListQuery): Promise<Listing>
  /**
   * The fingerprint of an object, as `find` or `read` has described it. Where it is not known yet, it is made meanwhile: null when that takes longer
   * than the time that is left, or when the object has gone.
   */
  fingerprintOf(object: ObjectInfo, remainingTime: RemainingTime): Promise<string | null>
  /** Takes bytes in without making anything visible. When `content` fails, nothing is left of it and its error comes through. */
  stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged>
  /**
   * Makes changes visible together, or none of them (decisions.md, section 5): when something stands in the way, when the time is up, or
   * when it fails half-way. Two that get in each other's way at the very same time are never both placed.
   */
  place(changes: readonly Change[], conditions: PlaceConditions, entry: HistoryEntry): Promise<PlaceOutcome>
  /**
   * The states of the object at a key that there are: the present one, and those that are kept, the newest first. Undefined when `after` is none of
   * them.
   */
  versions(key: string, query: VersionQuery): Promise<Versions | undefined>
  /** `read` for one of its states. Undefined when there is no such state, or it is kept no longer. */
  readVersion(
    key: string,
    id: string,
    choose: (info: ObjectInfo) => ByteRange | undefined,
  ): Promise<ReadObject | undefined>
  /** What was removed and is not there again, folded into folders below the prefix. */
  listRemoved(query: RemovedQuery): Promise<RemovedListing>
  /** The objects below a prefix that were removed between two moments, whether something is there again or not, each as it was then. */
  removedWithin(prefix: string, period: Period): AsyncIterable<readonly RemovedObject[]>
  /** What is kept of what was replaced or removed below a prefix. */
  keptBelow(prefix: string): Promise<Kept>
  /**
   * Removes these objects, but none that has been replaced since it was listed. Throws when one could not be removed. Without an entry it
   * is a step of a folder's removal, which has its own (`FolderRemovals`). When the time is up, it throws `unavailable`, and nothing of it
   * goes on.
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
  /** What equal bytes have in common (decisions.md, section 5); null while it is not known. */
  readonly fingerprint: string | null
}

export interface ObjectInfo extends ListedObject {
  readonly contentType: string
  /** What the store calls this state of the object, and no other one of it. */
  readonly versionId?: string
}

/** A state that an object is or was in. */
export interface ObjectVersion {
  /** What the store calls it: no other state of the object has that name. */
  readonly id: string
  /** When it came to be, in milliseconds since the epoch. */
  readonly at: number
  /** Bytes. */
  readonly size: number
  readonly isCurrent: boolean
  /** Whether the object was removed in this state, and not replaced. */
  readonly isRemoved: boolean
  /** When it was removed, or replaced, in milliseconds since the epoch; undefined for the present one. */
  readonly goneAt?: number
  /** Where the store hides what is removed, and nothing newer is there: what hides it. */
  readonly hiddenBy?: readonly string[]
  /** What the store compares such a state by. */
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
  /** Where to go on; undefined at the end. */
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
  /** Where to go on; undefined at the end. A page may hold fewer entries than asked for, or none, although more follow. */
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
  /** Whether what lies below a folder counts as that folder alone. */
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
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

export interface StageTarget {
  /** Where the bytes will be put. Undefined when that is not known yet, which may cost a copy. */
  readonly key: string | undefined
  readonly contentType: string
}

/** Bytes that wait to be put in place. */
export interface Staged {
  readonly size: number
  /** Lets go of them. Harmless when they have been put in place, or let go of before. */
  discard(): Promise<void>
}

/** An object gets another key, or comes to be there a second time, as an object of its own that was made at that moment. */
export interface Transfer {
  readonly kind: 'move' | 'copy'
  readonly from: Pick<ListedObject, 'key' | 'version'>
  readonly key: string
  /** Without it the type stays as it is. */
  readonly contentType?: string
}

/** An object is again as it was in an earlier state, whatever is there now: that is kept like anything that is replaced. */
export interface Restoration extends RemovedObject {
  readonly kind: 'restore'
}

/**
 * A move or a copy needs a free destination, and a source that is still in the version that it was listed in; a folder is created when it is
 * missing; removing what is not there is fine; what is restored must still be kept, or it is stale.
 */
export type Change =
  | { readonly kind: 'put'; readonly key: string; readonly staged: Staged }
  | { readonly kind: 'folder'; readonly key: string }
  | Transfer
  | Restoration
  | { readonly kind: 'remove'; readonly key: string }

/** What there must be at a key: an object in this very version, or nothing. */
export interface Expected {
  readonly key: string
  readonly version: string | undefined
}

/** What must be true for changes to be placed, at the moment when they become visible. */
export interface PlaceConditions {
  /** Keys where there must be what has been seen there. Of two that expect the same and change it, one is placed. */
  readonly matching?: readonly Expected[]
  /** Keys where nothing may be: exactly there, or, for one that ends in `/`, there and below. */
  readonly absent: readonly string[]
  /** Keys where something must still be when the changes are placed: without it they are stale. */
  readonly standing?: readonly string[]
  /** Folders of a site of which none may be going: a removal is open for it, or was while the changes were placed. */
  readonly staying: {
    readonly site: SiteId
    readonly folders: readonly StoragePath[]
    /** The hold of whoever places them, which is no obstacle to him. */
    readonly holding?: string | undefined
  }
  readonly remainingTime?: RemainingTime
}

/**
 * What became of changes. Unless they are placed, nothing was changed: there is something at `key` already (rival); what was to be moved
 * or copied from `key` has been replaced or removed since it was listed, or nothing stands there any more (stale); the time was up (late); a
 * folder is being removed (going); at `key` there is something else than what `matching` says (changed).
 */
export type PlaceOutcome =
  | { readonly outcome: 'placed' }
  | { readonly outcome: 'rival'; readonly key: string }
  | { readonly outcome: 'stale'; readonly key: string }
  | { readonly outcome: 'late' }
  | { readonly outcome: 'going' }
  | { readonly outcome: 'changed'; readonly key: string }

/** Thrown by an adapter from within an attempt to place changes, so that nothing of it stays: `place` answers what it holds. */
export class NotPlaced extends Error {
  readonly outcome: Exclude<PlaceOutcome, { outcome: 'placed' }>
  constructor(outcome: NotPlaced['outcome']) {
    super(outcome.outcome)
    this.outcome = outcome
  }
}

/** What one call to a store lists at most. */
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
