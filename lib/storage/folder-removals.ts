import type { HistoryEntry } from '../history-entry.ts'
import type { SiteId } from '../ids.ts'
import type { StoragePath } from './path.ts'

/** A removal that is going on. */
export interface OpenRemoval {
  readonly path: StoragePath
  readonly id: string
}

/**
 * The port to the removals of folders that may take longer than a request. While one is open, nothing is put in place in its
 * folder (`ObjectStore.place`). What was opened a moment ago is seen. Errors of every call: unavailable.
 */
export interface FolderRemovals {
  /**
   * Answers the id of the removal that is open for the folder: a new one with that id, or the one that was there before. The entry is
   * kept with it, and belongs to the history when the removal is closed.
   */
  open(site: SiteId, folder: StoragePath, id: string, entry: HistoryEntry): Promise<string>
  /** Does nothing when that removal is not open. */
  close(site: SiteId, folder: StoragePath, id: string): Promise<void>
  /** The open removals of these very folders. */
  openOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly OpenRemoval[]>
  /** Whether a removal is open for a folder below this one. */
  isOpenBelow(site: SiteId, folder: StoragePath): Promise<boolean>
}

/** The rest of a removal that somebody has to finish. */
export interface RemovalTask {
  readonly site: SiteId
  readonly path: StoragePath
  readonly id: string
}

/** A durable queue: what is sent is delivered after the delay, again and again until it has been worked off. */
export interface RemovalQueue {
  /** `delay` in seconds. */
  send(task: RemovalTask, delay: number): Promise<void>
}
