export type { Counts, EndEvent, SyncEvent } from './sync/events.ts'
export { LocalRefusal } from './sync/local-refusal.ts'
export {
  type FileState,
  type Fingerprint,
  type PlanOptions,
  plan,
  type SeenState,
  type Step,
  type Tree,
} from './sync/plan.ts'
export type { SyncOptions } from './sync/prepare.ts'
export { pull, push } from './sync/sync.ts'
