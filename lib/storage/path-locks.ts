import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'
import type { Period, RemovalTask, RemovedFolder } from './object-store.ts'
import type { StoragePath } from './path.ts'

/** The port to running workflows of pages. Reads see earlier writes. Errors of every call: unavailable. */
export interface Workflows {
  start(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<void>
  end(site: SiteId, page: StoragePath, entry: HistoryEntry): Promise<boolean>
  isRunning(site: SiteId, pages: readonly StoragePath[]): Promise<boolean>
  isRunningBelow(site: SiteId, folder: StoragePath): Promise<boolean>
  /**
   * Pages after this page, up to `limit`, in the order of the bytes of their paths. Only the last page of the list has
   * fewer.
   */
  list(site: SiteId, after: StoragePath | undefined, limit: number): Promise<readonly StoragePath[]>
  clear(site: SiteId): Promise<void>
}

export interface OpenRemoval {
  readonly path: StoragePath
  readonly id: string
  readonly hasWorker: boolean
  readonly isRestoreLock: boolean
}

/**
 * `ids` also contains the ids of locks that have ended. If a later look finds another id, that lock is newer than this
 * look.
 */
export interface FolderLocks {
  readonly open: readonly OpenRemoval[]
  readonly ids: ReadonlySet<string>
}

// If the store records `after`, no object up to this key is left. `left` is in milliseconds. `gone` means that the
// removal is closed or replaced.
type LeaseOutcome =
  | { readonly outcome: 'taken'; readonly after?: string | undefined }
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'held'; readonly holder: string; readonly left: number }

// In milliseconds. A worker that is silent for longer has died: AWS repeats the message of a dead worker after nine
// minutes.
export const longestSilence = 15 * 60_000

/**
 * The port to folder removals, which may continue after their request, and to the locks of restores. While a folder has
 * a removal or a lock, nothing is placed in it. Reads see earlier writes. Errors of every call: unavailable.
 */
export interface FolderRemovals {
  /**
   * Returns the id of the open removal, which may be an earlier removal. `close` writes the entry into the history. If
   * the time is up, no removal is opened.
   */
  open(site: SiteId, folder: StoragePath, id: string, entry: HistoryEntry, deadline?: Deadline): Promise<string>
  /** Gives a worker the lease of a removal for some milliseconds. `holder` is the name of the worker. */
  take(task: RemovalTask, holder: string, duration: number): Promise<LeaseOutcome>
  giveBack(task: RemovalTask, holder: string, removed: number, after?: string): Promise<void>
  /**
   * Closes the removal, records its period, and writes its entry with the number of removed objects. `removed` is the
   * number since the last `giveBack`, unless the store of the objects counts. If the removal is not open, does nothing.
   */
  close(site: SiteId, folder: StoragePath, id: string, removed: number): Promise<void>
  locksOf(site: SiteId, folders: readonly StoragePath[]): Promise<FolderLocks>
  /**
   * Locks a folder against changes while it is restored, for some milliseconds. False when the folder is already
   * locked. Where a restore is one transaction, does nothing.
   */
  lock(site: SiteId, folder: StoragePath, id: string, duration: number): Promise<boolean>
  unlock(site: SiteId, folder: StoragePath, id: string): Promise<void>
  /**
   * Records that the undo of a restore removed a file, or objects of a folder. The period ends now. The store of the
   * objects itself records all other removals. Where a restore is one transaction, does nothing.
   */
  note(removal: RemovedFolder): Promise<void>
  /** The recorded removals that restores need, the newest first. Records are kept as long as the removed objects. */
  lastOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly Period[]>
  isOpenBelow(site: SiteId, folder: StoragePath): Promise<boolean>
}

/** A durable queue. A message is repeated until it succeeds. */
export interface RemovalQueue {
  /** `delay` is in seconds, up to 900. Returns the name of the message. */
  send(task: RemovalTask, delay: number): Promise<string>
}
