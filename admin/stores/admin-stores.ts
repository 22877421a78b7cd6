import type { Stores } from '../../lib/service/stores.ts'
import type { Site } from '../../lib/sites/site-directory.ts'

/** The stores that an import fills. */
export type ContentStores = Pick<Stores, 'webForms' | 'contents' | 'links'>

/** The stores of one data centre that commands work on. */
export interface AreaStores extends ContentStores, Pick<Stores, 'workflows' | 'history'> {
  readonly files: Pick<Stores['files'], 'keptBelow' | 'list' | 'exists' | 'remove'>
}

/** What the commands work on: the directory, and what belongs to each data centre. */
export interface AdminStores extends Pick<Stores, 'sites' | 'grants'> {
  /** The stores of the data centre where a site lives. */
  areas(site: Pick<Site, 'dataCentre'>): Promise<AreaStores>
  /** For how long callers may go on that a token was taken away from just now, in milliseconds. */
  memory(): Promise<number>
  close(): Promise<void>
}
