import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { compareText } from '../../core/names.ts'
import type { Stores } from '../../service/stores.ts'
import {
  type Delivery,
  keptDeliveries,
  mostWebhooks,
  type PlannedWebhook,
  type Webhook,
  type Webhooks,
  withOutcome,
} from '../../webhooks/webhooks.ts'
import { expression, inSeconds, mapped, openTable, queryItems, type Table, type TableOptions } from './dynamodb.ts'
import { batchDelete } from './dynamodb-batches.ts'
import type { RecordingOptions } from './journal.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

// `version` is the mark of the last change. `delivered` counts the deliveries.
interface WebhookItem extends Webhook {
  readonly key: string
  readonly version: string
  readonly delivered: number
}

const webhooks = 'webhook#'
const deliveriesOf = (id: string) => `delivery#${id}#`

const webhookKey = (site: SiteId, id: string) => ({ site, key: webhooks + id })

const mostTries = 16

const listed = (site: SiteId, prefix?: string) => ({
  where: [expression`#site = ${site}`, prefix === undefined ? undefined : expression`begins_with(#key, ${prefix})`],
  consistent: true,
})

const toWebhook = ({ key: _key, version: _version, delivered: _, ...webhook }: WebhookItem): Webhook => webhook

type Plan = (present: Webhook) => Webhook | undefined | Promise<Webhook | undefined>

const replace = async (table: Table<WebhookItem>, site: SiteId, id: string, plan: Plan, deliveries = 0) => {
  const version = createMark()
  for (let tries = 0; tries < mostTries; tries++) {
    const item = await table.get(webhookKey(site, id))
    if (!item || isOwnWrite(version, item.version)) return item
    const planned = await plan(toWebhook(item))
    if (!planned) return undefined
    const changed = { ...planned, ...webhookKey(site, id), version, delivered: item.delivered + deliveries }
    if (await table.put(changed, { condition: expression`#version = ${item.version}` })) return changed
  }
  throw new ServiceError('unavailable')
}

type Options = RecordingOptions & Pick<Stores, 'history'>

const longestAnnouncement = 60_000

export const createWebhooks = ({ record, history, now = Date.now, ...options }: Options): Webhooks => {
  const table = openTable<WebhookItem>(options)
  const kept = openTable<Delivery & Pick<WebhookItem, 'site' | 'key'>>(options)
  const listOfSite = async (site: SiteId) => (await queryItems(table, listed(site, webhooks))).map(toWebhook)
  const hasTooMany = async (site: SiteId, most: number) => (await listOfSite(site)).length > most

  const withPosition = async ({ position, ...planned }: PlannedWebhook): Promise<Webhook> => {
    if (position !== undefined) return { ...planned, position }
    const [last] = await history.before(planned.site, undefined, 1)
    return { ...planned, position: last?.position ?? 0, announcedBy: now() + longestAnnouncement }
  }

  const removeBelow = async (site: SiteId, prefix?: string): Promise<void> => {
    const items = await queryItems(table, { ...listed(site, prefix), columns: ['key'] })
    const keys = items.map(({ key }) => ({ site, key }))
    await batchDelete(table, keys)
  }

  return {
    listOfSite,

    get: async (site, id) => mapped(await table.get(webhookKey(site, id)), toWebhook),

    async create(webhook, entry) {
      const key = webhookKey(webhook.site, webhook.id)
      const [isFull, placed] = await Promise.all([hasTooMany(webhook.site, mostWebhooks - 1), withPosition(webhook)])
      if (isFull) return false
      await table.put({ ...placed, ...key, version: createMark(), delivered: 0 })
      if (await hasTooMany(webhook.site, mostWebhooks)) {
        await table.take(key)
        return false
      }
      await record(entry)
      return true
    },

    async change(site, id, plan, entry) {
      const changed = await replace(table, site, id, (present) => mapped(plan(present), withPosition))
      if (changed) await record(entry)
      return mapped(changed, toWebhook)
    },

    async remove(site, id, entry) {
      if (!(await table.remove(webhookKey(site, id)))) return false
      await record(entry)
      await removeBelow(site, deliveriesOf(id))
      return true
    },

    clear: (site) => removeBelow(site),

    async deliveries(site, id) {
      const items = await queryItems(kept, listed(site, deliveriesOf(id)))
      const found = items.map(({ site: _, key: _key, ...delivery }) => delivery)
      return found.sort((one, other) => compareText(other.id, one.id))
    },

    async recordOutcome(site, id, outcome) {
      const { delivery } = outcome
      const changed = await replace(table, site, id, (present) => withOutcome(present, outcome), delivery ? 1 : 0)
      if (!changed || !delivery) return
      await kept.put({ ...delivery, site, key: `${deliveriesOf(id)}${changed.delivered % keptDeliveries}` })
    },
  }
}

/** The worker with the lease also does the work of workers that find the lease taken. `wakes` counts these workers. */
export interface WebhookLease {
  readonly holder: string
  readonly wakes?: number
  /** In milliseconds since the epoch: a message that is on its way arrives at this time. */
  readonly wakesAt?: number | undefined
}

// The progress of a webhook replaces its whole item, so the lease has an item of its own. This item stays for a day after
// the lease, because a message arrives much earlier.
const leaseKey = (site: SiteId, id: string) => ({ site, key: `lease#${id}` })
const leaseKeptFor = 24 * 3600 * 1000

export const createWebhookLeases = ({ now = Date.now, ...options }: TableOptions) => {
  const table = openTable<WebhookLease>(options)

  const tryToTake = (site: SiteId, id: string, holder: string, duration: number) =>
    table.update(leaseKey(site, id), {
      set: {
        holder,
        until: now() + duration,
        expires: inSeconds(now() + duration + leaseKeptFor),
        wakes: expression`if_not_exists(#wakes, ${0})`,
      },
      condition: expression`attribute_not_exists(#until) OR #until <= ${now()} OR #holder = ${holder}`,
      returns: 'ALL_NEW',
    })

  return {
    /** The duration is in milliseconds. */
    async take(site: SiteId, id: string, holder: string, duration: number): Promise<WebhookLease | undefined> {
      const taken = await tryToTake(site, id, holder, duration)
      if (taken) return taken
      await table.update(leaseKey(site, id), { add: { wakes: 1 } })
      // The other worker may have ended before it noticed `wakes`.
      return tryToTake(site, id, holder, duration)
    },

    /** Returns false, and keeps the lease, if `wakes` has grown. Without `lease.wakes`, always gives up the lease. */
    async giveBack(site: SiteId, id: string, { holder, wakes, wakesAt }: WebhookLease): Promise<boolean> {
      const given = await table.update(leaseKey(site, id), {
        set: { holder: undefined, until: undefined, ...(wakesAt !== undefined && { wakesAt }) },
        condition: [expression`#holder = ${holder}`, wakes === undefined ? undefined : expression`#wakes = ${wakes}`],
      })
      return given !== undefined
    },
  }
}

export type WebhookLeases = ReturnType<typeof createWebhookLeases>
