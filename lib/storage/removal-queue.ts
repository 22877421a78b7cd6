import type { SiteId } from '../ids.ts'
import type { StoragePath } from './path.ts'

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
