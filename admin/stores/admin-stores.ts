import type { Stores } from '../../lib/service/stores.ts'
import type { Site } from '../../lib/sites/site-directory.ts'

export type ContentStores = Pick<Stores, 'webForms' | 'contents' | 'links'>

export interface AreaStores
  extends ContentStores,
    Pick<Stores, 'workflows' | 'history' | 'usage' | 'webhooks' | 'deliveries'> {
  /** V-17: undefined in a deployment without webhooks. */
  readonly seals?: Stores['seals']
  readonly files: Pick<Stores['files'], 'keptBelow' | 'list' | 'exists' | 'remove'>
}

/** The directory, and the stores of each data centre. */
export interface AdminStores extends Pick<Stores, 'sites' | 'grants' | 'people' | 'issuers'> {
  areas(site: Pick<Site, 'dataCentre'>): Promise<AreaStores>
  /** In milliseconds: caches may accept a revoked token for this time. */
  memory(): Promise<number>
  close(): Promise<void>
}

/** Reads a list to its end, in the order of the ids. */
export async function* readPages<Value extends { readonly id: number }>(
  most: number,
  read: (after: number, limit: number) => Promise<readonly Value[]>,
): AsyncGenerator<readonly Value[], void> {
  for (let after = 0; ; ) {
    const values = await read(after, most)
    yield values
    const last = values.at(-1)
    if (last === undefined || values.length < most) return
    after = last.id
  }
}
