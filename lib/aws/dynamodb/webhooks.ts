import { compareText } from '../../core/compare-text.ts'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import {
  type Delivery,
  isSuccess,
  keptDeliveries,
  mostWebhooks,
  type Outcome,
  type Retry,
  type Webhook,
  type WebhookChange,
  type WebhookDeliveries,
  type Webhooks,
} from '../../webhooks/webhooks.ts'
import { type ItemChange, inSeconds, mapped, openTable, queryItems, type TableOptions } from './dynamodb.ts'
import { batchDelete } from './dynamodb-batches.ts'
import type { RecordingOptions } from './journal.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

// `version` is the mark of the last change of the settings. `delivered` counts the deliveries. A worker also stores its
// lease here (`LeaseItem`).
interface WebhookItem extends Omit<Webhook, 'site'> {
  readonly site: number
  readonly key: string
  readonly version: string
  readonly delivered?: number
}

type Row<Content> = Content & { readonly site: number; readonly key: string }

const webhooks = 'webhook#'
const deliveriesOf = (id: string) => `delivery#${id}#`
const retriesOf = (id: string) => `retry#${id}#`

const webhookKey = (site: SiteId, id: string) => ({ site, key: webhooks + id })

const retryKey = (site: SiteId, id: string, { due, position }: Retry) => ({
  site,
  key: `${retriesOf(id)}${String(Math.round(due)).padStart(16, '0')}#${position}`,
})

// In milliseconds after the due time. Only disabled or removed webhooks have older retries.
const retriesKeptFor = 7 * 24 * 3600 * 1000

const mostTries = 16

const listed = (site: SiteId, prefix?: string) => ({
  where: `#site = :site${prefix === undefined ? '' : ' AND begins_with(#key, :prefix)'}`,
  values: { ':site': site, ...(prefix !== undefined && { ':prefix': prefix }) },
  consistent: true,
})

const toWebhook = ({ site, lastSuccess, failingSince, ...item }: WebhookItem): Webhook => {
  const { id, targetUrl, types, subject, enabled, description, secrets, position } = item
  return {
    ...{ site: storedId(site), id, targetUrl, types, subject, enabled, description, secrets, position },
    ...(lastSuccess !== undefined && { lastSuccess }),
    ...(failingSince !== undefined && { failingSince }),
  }
}

const withoutKey = <Content>({ site: _, key: _key, ...content }: Row<Content>) => content

const changeOf = ({ forgetsFailures, ...set }: WebhookChange, version: string): ItemChange => ({
  set: { ...set, version },
  ...(forgetsFailures && { update: 'REMOVE #failingSince' }),
})

/** The position only grows, so a late worker cannot set it back. The result is undefined if nothing changes. */
const progressOf = ({ delivery, position }: Outcome): ItemChange | undefined => {
  const isDelivered = delivery && isSuccess(delivery)
  const state = isDelivered ? '#lastSuccess = :at' : '#failingSince = if_not_exists(#failingSince, :at)'
  const set = [...(position === undefined ? [] : ['#position = :position']), ...(delivery ? [state] : [])]
  if (set.length === 0) return undefined
  return {
    update: `SET ${set.join(', ')}${isDelivered ? ' REMOVE #failingSince' : ''}${delivery ? ' ADD #delivered :one' : ''}`,
    condition: `attribute_exists(#key)${position === undefined ? '' : ' AND #position < :position'}`,
    values: {
      ...(position !== undefined && { ':position': position }),
      ...(delivery && { ':at': delivery.at, ':one': 1 }),
    },
    returns: 'UPDATED_OLD',
  }
}

/** The table Webhooks: an item for each webhook with its progress, and rows for its deliveries and retries. */
export const createWebhooks = ({ record, ...options }: RecordingOptions): Webhooks => {
  const table = openTable<WebhookItem>(options)
  const listOfSite = async (site: SiteId) => (await queryItems(table, listed(site, webhooks))).map(toWebhook)
  const hasTooMany = async (site: SiteId, most: number) => (await listOfSite(site)).length > most

  const tryToChange = ({ site, key, version: before }: WebhookItem, change: WebhookChange, version: string) => {
    const unchanged = { condition: '#version = :before', values: { ':before': before } }
    return table.update({ site, key }, { ...changeOf(change, version), ...unchanged, returns: 'ALL_NEW' })
  }

  const removeBelow = async (
    site: SiteId,
    prefix?: string,
    isRemoved: (row: Pick<WebhookItem, 'position'>) => boolean = () => true,
  ): Promise<void> => {
    const rows = await queryItems(table, { ...listed(site, prefix), columns: ['key', 'position'] })
    await batchDelete(
      table,
      rows.filter(isRemoved).map(({ key }) => ({ site, key })),
    )
  }

  /**
   * V-5. Called before the webhook is enabled, because the process may end at any call. Spares the new retries of a
   * webhook that another caller has enabled meanwhile.
   */
  const forgetRetries = (site: SiteId, { id, position: end }: WebhookItem) =>
    removeBelow(site, retriesOf(id), ({ position }) => position <= end)

  return {
    listOfSite,

    get: async (site, id) => mapped(await table.get(webhookKey(site, id)), toWebhook),

    async create(webhook, entry) {
      const key = webhookKey(webhook.site, webhook.id)
      if (await hasTooMany(webhook.site, mostWebhooks - 1)) return false
      await table.put({ ...webhook, ...key, version: createMark() })
      if (await hasTooMany(webhook.site, mostWebhooks)) {
        await table.take(key)
        return false
      }
      await record(entry)
      return true
    },

    async change(site, id, change, entry) {
      const version = createMark()
      const tryOnce = async () => {
        const item = await table.get(webhookKey(site, id))
        if (isOwnWrite(version, item?.version)) return item
        const wanted = item && change(toWebhook(item))
        if (item && wanted?.forgetsFailures) await forgetRetries(site, item)
        return item && wanted && ((await tryToChange(item, wanted, version)) ?? 'overtaken')
      }
      for (let tries = 0; tries < mostTries; tries++) {
        const changed = await tryOnce()
        if (!changed) return undefined
        if (changed === 'overtaken') continue
        await record(entry)
        return toWebhook(changed)
      }
      throw new ServiceError('unavailable')
    },

    async remove(site, id, entry) {
      if (!(await table.remove(webhookKey(site, id)))) return false
      await record(entry)
      await removeBelow(site, deliveriesOf(id))
      await removeBelow(site, retriesOf(id))
      return true
    },

    clear: (site) => removeBelow(site),
  }
}

export const createWebhookDeliveries = (options: TableOptions): WebhookDeliveries => {
  const table = openTable<WebhookItem>(options)
  const deliveries = openTable<Row<Delivery>>(options)
  const retries = openTable<Row<Retry> & { readonly expires: number }>(options)

  /** Returns the number of earlier deliveries, or undefined if the webhook was removed. */
  const note = async (site: SiteId, id: string, outcome: Outcome): Promise<number | undefined> => {
    const progress = progressOf(outcome)
    if (!progress) return undefined
    const before = await table.update(webhookKey(site, id), { ...progress, returns: 'UPDATED_OLD' })
    if (before) return before.delivered ?? 0
    return outcome.position === undefined
      ? undefined
      : note(site, id, { ...(outcome.delivery && { delivery: outcome.delivery }) })
  }

  return {
    async recent(site, id) {
      const rows = await queryItems(deliveries, listed(site, deliveriesOf(id)))
      return rows.map(withoutKey).toSorted((one, other) => compareText(other.id, one.id))
    },

    async retries(site, id, limit) {
      const rows = await queryItems(retries, listed(site, retriesOf(id)), limit)
      return rows.map(({ position, attempt, due }) => ({ position, attempt, due }))
    },

    async record(site, id, outcome) {
      const { delivery, retry, ended } = outcome
      if (retry)
        await retries.put({ ...retry, ...retryKey(site, id, retry), expires: inSeconds(retry.due + retriesKeptFor) })
      const earlier = await note(site, id, outcome)
      if (delivery && earlier !== undefined) {
        await deliveries.put({ ...delivery, site, key: `${deliveriesOf(id)}${earlier % keptDeliveries}` })
      }
      if (ended) await retries.take(retryKey(site, id, ended))
    },
  }
}

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
