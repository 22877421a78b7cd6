import type { Step } from './plan.ts'

export interface Counts {
  readonly create: number
  readonly replace: number
  readonly remove: number
  readonly keep: number
  readonly conflict: number
}

/** Events of a push or a pull. Sizes are in bytes. */
export type SyncEvent =
  /** Something that is not sent or not fetched, and why. */
  | { readonly event: 'skipped'; readonly path: string; readonly why: string }
  /**
   * Counts of the plan. `bytes` will be sent or fetched, `removedBytes` removed; `ignored` are files and whole folders
   * that are left out.
   */
  | ({
      readonly event: 'plan'
      readonly bytes: number
      readonly removedBytes: number
      readonly ignored: number
    } & Counts)
  /** One step of the plan. Unchanged files are not listed. */
  | ({ readonly event: 'step' } & Step)
  /** Progress of the whole run. */
  | {
      readonly event: 'progress'
      readonly files: number
      readonly totalFiles: number
      readonly bytes: number
      readonly totalBytes: number
    }
  | {
      readonly event: 'done'
      readonly action: 'create' | 'replace' | 'remove'
      readonly path: string
      readonly size: number
    }
  /** Changed meanwhile, or in a place that is taken: nothing was written. */
  | { readonly event: 'conflict'; readonly path: string; readonly why: string }
  | { readonly event: 'failed'; readonly path: string; readonly message: string; readonly code?: number }
  /** It is over. `interrupted` when it was told to stop: the same call goes on then. */
  | ({
      readonly event: 'end'
      readonly failed: number
      readonly skipped: number
      readonly interrupted: boolean
    } & Counts)

export type EndEvent = Extract<SyncEvent, { readonly event: 'end' }>
