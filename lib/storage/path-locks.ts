import type { Deadline } from '../core/deadline.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Period, RemovedFolder } from './object-store.ts'
import type { StoragePath } from './path.ts'

/** The port to running workflows of pages. Reads see earlier writes. Errors of every call: unavailable. */
export interface Workflows {
  start(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<void>
  end(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<boolean>
  isRunning(site: SiteId, pages: readonly StoragePath[]): Promise<boolean>
  isRunningBelow(site: SiteId, folder: StoragePath): Promise<boolean>
  /** Pages after this one in the order of their bytes, up to `limit`; fewer only at the end. */
  list(site: SiteId, after: StoragePath | undefined, limit: number): Promise<readonly StoragePath[]>
  clear(site: SiteId): Promise<void>
}

export interface OpenRemoval {
  readonly path: StoragePath
  readonly id: string
  readonly hasWorker: boolean
  readonly isRestoreLock: boolean
}

/** `ids`: also those of locks that have ended. A lock that a later look finds besides them is newer than this look. */
export interface FolderLocks {
  readonly isLocked: boolean
  readonly ids: ReadonlySet<string>
}

export interface RemovalTask {
  readonly site: SiteId
  readonly path: StoragePath
  readonly id: string
}

// `after`: nothing up to this key is left, if the store records it. `left`: milliseconds. `gone`: the removal is closed or replaced.
type LeaseOutcome =
  | { readonly outcome: 'taken'; readonly after?: string | undefined }
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'held'; readonly holder: string; readonly left: number }

// A queue of AWS repeats a message nine minutes after its worker died.
export const longestSilence = 15 * 60_000

/**
 * The port to folder removals that may outlast a request, and to the locks of restores. While a folder has either,
 * nothing is placed in it. Reads see earlier writes. Errors of every call: unavailable.
 */
export interface FolderRemovals {
  /**
   * Returns the id of the open removal: the new one, or an earlier one. `close` writes the entry into the history.
   * Opens nothing once the time is up.
   */
  open(site: SiteId, folder: StoragePath, id: string, entry: HistoryEntry, deadline?: Deadline): Promise<string>
  /** Leases a removal to a worker for some milliseconds. `holder`: the name of its message. */
  take(task: RemovalTask, holder: string, duration: number): Promise<LeaseOutcome>
  giveBack(task: RemovalTask, holder: string, removed: number, after?: string): Promise<void>
  /**
   * Closes the removal, records its period, and writes its entry with the number of removed objects.
   * Does nothing when it is not open.
   */
  close(site: SiteId, folder: StoragePath, id: string, removed: number): Promise<void>
  openOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly OpenRemoval[]>
  locksOf(site: SiteId, folders: readonly StoragePath[]): Promise<FolderLocks>
  /**
   * Locks a folder against changes while it is restored, for some milliseconds. False when it is locked already. Does
   * nothing where a restore is one transaction.
   */
  lock(site: SiteId, folder: StoragePath, id: string, duration: number): Promise<boolean>
  unlock(site: SiteId, folder: StoragePath, id: string): Promise<void>
  /**
   * Records that objects of a folder were removed until now, because a restore was undone. The store of the objects
   * records the other removals. Does nothing where a restore is one transaction.
   */
  note(removal: RemovedFolder): Promise<void>
  /** The recorded removals for restores, the newest first, while the removed objects are kept. */
  lastOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly Period[]>
  isOpenBelow(site: SiteId, folder: StoragePath): Promise<boolean>
}

/** A durable queue. It repeats a message until it succeeds. */
export interface RemovalQueue {
  /** `delay`: seconds, up to 900. Returns the name of the message. */
  send(task: RemovalTask, delay: number): Promise<string>
}
