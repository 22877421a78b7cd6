import type { Author } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { RemainingTime } from '../../core/remaining-time.ts'
import type { Target } from './upload.ts'

/** Who asks, and how long he waits. */
export interface Asker {
  readonly site: SiteId
  readonly author: Author
  readonly remainingTime: RemainingTime
}

/** A whole upload: to look into, and to be put in place. */
interface Bytes<Whole> {
  read(): AsyncIterable<Uint8Array>
  whole(): Promise<Whole>
}

/** Where uploads go: what decides whether a file may be there, and puts it there. `Wish` is where it should go in its own words. */
export interface Destination<Wish, Whole> {
  /** Decides whether a file may be stored there, as far as that can be said without its bytes, and how long it may be. Errors: its own. */
  admit(wish: Wish, asker: Asker): Promise<{ readonly target: Target; readonly limit: number }>
  /**
   * Decides once more, with the bytes, and puts them in place: all or nothing. An error below 500 is its last word; one above may pass.
   */
  put(target: Target, bytes: Bytes<Whole>, asker: Asker): Promise<void>
}
