import type { SiteId } from '../../core/ids.ts'
import { openTable, type TableOptions } from './dynamodb.ts'
import { webhookKey } from './webhooks.ts'

/** The worker with the lease also does the work of workers that find the lease taken. `wakes` counts these workers. */
export interface WebhookLease {
  readonly holder: string
  readonly wakes: number
  /** In milliseconds since the epoch: a message that is on its way arrives at this time. */
  readonly wakesAt?: number | undefined
}

interface LeaseItem extends WebhookLease {
  readonly site: number
  readonly key: string
  readonly until?: number
}

export const createWebhookLeases = ({ now = Date.now, ...options }: TableOptions) => {
  const table = openTable<LeaseItem>(options)

  const tryToTake = (site: SiteId, id: string, holder: string, duration: number) =>
    table.update(webhookKey(site, id), {
      update: 'SET #holder = :holder, #until = :until, #wakes = if_not_exists(#wakes, :none)',
      condition: 'attribute_exists(#key) AND (attribute_not_exists(#until) OR #until <= :now OR #holder = :holder)',
      values: { ':holder': holder, ':until': now() + duration, ':now': now(), ':none': 0 },
      returns: 'ALL_NEW',
    })

  return {
    /** Undefined if the webhook was removed, or if another worker has the lease. That worker will notice this call. */
    async take(site: SiteId, id: string, holder: string, duration: number): Promise<WebhookLease | undefined> {
      const taken = await tryToTake(site, id, holder, duration)
      if (taken) return taken
      const condition = 'attribute_exists(#key)'
      await table.update(webhookKey(site, id), { update: 'ADD #wakes :one', condition, values: { ':one': 1 } })
      // The other worker may have ended before it noticed `wakes`.
      return tryToTake(site, id, holder, duration)
    },

    /** Returns false, and keeps the lease, if `wakes` has grown. Without `lease.wakes`, always gives up the lease. */
    async giveBack(
      site: SiteId,
      id: string,
      { holder, wakes, wakesAt }: Omit<WebhookLease, 'wakes'> & Partial<WebhookLease>,
    ): Promise<boolean> {
      const given = await table.update(webhookKey(site, id), {
        ...(wakesAt !== undefined && { set: { wakesAt } }),
        update: 'REMOVE #holder, #until',
        condition: `#holder = :holder${wakes === undefined ? '' : ' AND #wakes = :wakes'}`,
        values: { ':holder': holder, ...(wakes !== undefined && { ':wakes': wakes }) },
      })
      return given !== undefined
    },
  }
}

export type WebhookLeases = ReturnType<typeof createWebhookLeases>
