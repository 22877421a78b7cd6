import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { Period } from './object-store.ts'
import type { StoragePath } from './path.ts'

/** A removal that is going on. */
export interface OpenRemoval {
  readonly path: StoragePath
  readonly id: string
  readonly isTended: boolean
  readonly isHold: boolean
}

/** The rest of a removal that somebody has to finish. */
export interface RemovalTask {
  readonly site: SiteId
  readonly path: StoragePath
  readonly id: string
}

/**
 * `held`: by whom already, and for how many milliseconds at most; `over`: it is closed, or the folder has another one
 * by now.
 */
type TakeOutcome =
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'held'; readonly holder: string; readonly left: number }
  | { readonly outcome: 'over' }

/** The queue of AWS delivers a message nine minutes after its worker has begun and died: that is less. */
export const longestSilence = 15 * 60_000

export const entryOfRemoval = (entry: HistoryEntry, count: number): HistoryEntry => ({
  ...entry,
  details: { ...entry.details, count },
})

/**
 * The port to the removals of folders that may take longer than a request. While one is open, nothing is put in place
 * in its folder (`ObjectStore.place`). What was opened a moment ago is seen. Errors of every call: unavailable.
 */
export interface FolderRemovals {
  /**
   * Answers the id of the removal that is open for the folder: a new one with that id, or the one that was there
   * before. The entry is kept with it, and belongs to the history when the removal is closed. When the request has no
   * time left (unlimited unless told), none is opened any more, and none later either.
   */
  open(
    site: SiteId,
    folder: StoragePath,
    id: string,
    entry: HistoryEntry,
    remainingTime?: RemainingTime,
  ): Promise<string>
  /**
   * Takes a removal for one worker, which is known by the name of its message. Nobody else gets it before it is given
   * back, or so many milliseconds have passed: by then the worker has ended, whatever became of it.
   */
  take(task: RemovalTask, holder: string, duration: number): Promise<TakeOutcome>
  /** `removed` is how many objects the holder has removed. Does nothing when that holder has not taken it. */
  giveBack(task: RemovalTask, holder: string, removed: number): Promise<void>
  /**
   * The removal is over, and its entry goes into the history, with how many objects it has removed in all; when it was
   * is left on record, as by `note`. Does nothing when it is not open.
   */
  close(site: SiteId, folder: StoragePath, id: string, removed: number): Promise<void>
  /** The open removals of these very folders. */
  openOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly OpenRemoval[]>
  /**
   * Keeps everybody else from putting something into a folder while it is restored, for so many milliseconds at the
   * most. Answers false when the folder is being removed, or held by somebody else. Where all of a restore is one
   * transaction, nobody has to be kept from it.
   */
  hold(site: SiteId, folder: StoragePath, id: string, duration: number): Promise<boolean>
  /** Does nothing when it is not held under that id. */
  release(site: SiteId, folder: StoragePath, id: string): Promise<void>
  /**
   * Leaves on record when a folder was removed, for as long as what was removed is kept: a restore brings back what
   * went then. What goes after a part of it has gone (`isPartial`) belongs to that: the next record begins with it.
   */
  note(site: SiteId, folder: StoragePath, period: Period, isPartial?: boolean): Promise<void>
  lastOf(site: SiteId, folders: readonly StoragePath[]): Promise<readonly Period[]>
  isOpenBelow(site: SiteId, folder: StoragePath): Promise<boolean>
}

/**
 * Leaves on record when a folder was removed, behind the removal itself: that is done, whatever becomes of the record.
 * Without it a restore takes what went in the minute before the last of it.
 */
export const noteRemoval = async (
  removals: Pick<FolderRemovals, 'note'>,
  site: SiteId,
  folder: StoragePath,
  period: Period,
  isPartial = false,
): Promise<void> => {
  await removals.note(site, folder, period, isPartial).catch(() => {})
}

/** A durable queue: what is sent is delivered after the delay, again and again until it has been worked off. */
export interface RemovalQueue {
  /** `delay` in seconds, up to 900. Answers the name of the message, which is delivered with it. */
  send(task: RemovalTask, delay: number): Promise<string>
}
