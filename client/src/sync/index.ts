export type { Counts, EndEvent, SyncEvent } from './events.ts'
export { LocalRefusal } from './local-refusal.ts'
export {
  type FileState,
  type Fingerprint,
  type PlanOptions,
  plan,
  type SeenState,
  type Side,
  type Step,
  type Tree,
} from './plan.ts'
export type { SyncOptions } from './prepare.ts'
export { pull, push } from './sync.ts'
