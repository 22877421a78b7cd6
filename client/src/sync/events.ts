import type { Step } from './plan.ts'

/** What a run has done, or would do. */
export interface Counts {
  readonly create: number
  readonly replace: number
  readonly remove: number
  readonly keep: number
  readonly conflict: number
}

/** What a push or a pull reports while it goes on. Sizes are in bytes. */
export type SyncEvent =
  /** Something in the folder that is not sent. */
  | { readonly event: 'skipped'; readonly path: string; readonly why: string }
  /** What is to be done, in numbers; `bytes` are those to be sent or fetched, `ignored` the files, or folders with all that they hold, that would be if they were not ignored. */
  | ({ readonly event: 'plan'; readonly bytes: number; readonly ignored: number } & Counts)
  /** What is to be done, one by one; of what is kept, only what differs. */
  | ({ readonly event: 'step' } & Step)
  /** How far all of it is. */
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
  /** Changed on both sides, or meanwhile: nothing was written. */
  | { readonly event: 'conflict'; readonly path: string }
  | { readonly event: 'failed'; readonly path: string; readonly message: string; readonly code?: number }
  /** It is over. `interrupted` when it was told to stop: the same call goes on then. */
  | ({ readonly event: 'end'; readonly failed: number; readonly interrupted: boolean } & Counts)

export type EndEvent = Extract<SyncEvent, { readonly event: 'end' }>
