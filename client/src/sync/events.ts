import type { Step } from './plan.ts'

export interface Counts {
  readonly create: number
  readonly replace: number
  readonly remove: number
  readonly keep: number
  readonly conflict: number
}

export type SyncEvent =
  | { readonly event: 'skipped'; readonly path: string; readonly why: string }
  /** `bytes` will be transferred, and `removedBytes` removed. `ignored` counts files and whole folders. */
  | ({
      readonly event: 'plan'
      readonly bytes: number
      readonly removedBytes: number
      readonly ignored: number
    } & Counts)
  | ({ readonly event: 'step' } & Step)
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
  | { readonly event: 'conflict'; readonly path: string; readonly why: string }
  | { readonly event: 'failed'; readonly path: string; readonly message: string; readonly code?: number }
  /** The end of a run. If `interrupted` is true, repeat the call to continue. */
  | ({
      readonly event: 'end'
      readonly failed: number
      readonly skipped: number
      readonly interrupted: boolean
    } & Counts)

export type EndEvent = Extract<SyncEvent, { readonly event: 'end' }>
