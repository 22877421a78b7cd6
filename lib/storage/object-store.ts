import type { Readable } from 'node:stream'

/**
 * The port to what holds the bytes: objects under keys, in the order of their keys' UTF-8 bytes. `/` separates what people see
 * as folders; the zero-byte object `a/b/` is the folder itself. Every adapter passes the same contract suite.
 * Calls fail with the adapter's own errors; a failure that passes is recognised by isStoreUnavailable.
 */
export interface ObjectStore {
  find(key: string): Promise<ObjectInfo | undefined>
  /** Reads what the object is and, in the same state of it, the bytes that `choose` asks for; without a range there is no stream. */
  read(key: string, choose: (info: ObjectInfo) => ByteRange | undefined): Promise<ReadObject | undefined>
  /** Whether there is anything at a prefix or below it. */
  exists(prefix: string): Promise<boolean>
  list(query: ListQuery): Promise<Listing>
  /** Takes bytes in without making anything visible. When `content` fails, nothing is left of it and its error comes through. */
  stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged>
  /**
   * Makes changes visible together, unless there is something at one of the `absent` keys: exactly there, or, for one that ends in
   * `/`, there and below. What fails half-way is undone, and so is what is not done when the time is up. A rival that comes into being at
   * the very same time is seen by one of the two at least.
   */
  place(
    changes: readonly Change[],
    absent: readonly string[],
    isTimeUp?: () => boolean,
  ): Promise<Placed | Rival | Stale | Late>
  /** Removes these objects, but none that has been replaced since it was listed. Throws when one could not be removed. */
  remove(objects: readonly Pick<ListedObject, 'key' | 'version'>[]): Promise<void>
}

export interface ListedObject {
  readonly key: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
  /** Names this very state of the object. */
  readonly version: string
}

export interface ObjectInfo extends ListedObject {
  readonly contentType: string
}

/** Offsets of the first and the last byte. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

export interface ReadObject {
  readonly info: ObjectInfo
  readonly body?: Readable
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

/** A move needs a free destination, and a source that is still in the version that it was listed in; a folder is created when it is missing; removing what is not there is fine. */
export type Change =
  | { readonly kind: 'put'; readonly key: string; readonly staged: Staged }
  | { readonly kind: 'folder'; readonly key: string }
  | {
      readonly kind: 'move'
      readonly from: Pick<ListedObject, 'key' | 'version'>
      readonly key: string
      /** Without it the type stays as it is. */
      readonly contentType?: string
    }
  | { readonly kind: 'remove'; readonly key: string }

/** Changes that are visible and can still be taken back. One of the two must be called. */
export interface Placed {
  readonly outcome: 'placed'
  /** Brings back what was there before; what others have put there since stays. */
  undo(): Promise<void>
  settle(): Promise<void>
}

/** Nothing was changed, because there is something at `key` already. */
export interface Rival {
  readonly outcome: 'rival'
  readonly key: string
}

/** Nothing was changed, because the time was up before everything was in place. */
export interface Late {
  readonly outcome: 'late'
}

/** Nothing was changed, because what was to be moved from `key` has been replaced or removed since it was listed. */
export interface Stale {
  readonly outcome: 'stale'
  readonly key: string
}
