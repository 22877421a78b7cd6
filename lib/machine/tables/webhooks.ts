import type { SiteId } from '../../core/ids.ts'
import {
  type Delivery,
  keptDeliveries,
  mostWebhooks,
  type PlannedWebhook,
  type PlanWebhook,
  type SecretSeals,
  type Webhook,
  type Webhooks,
  withOutcome,
} from '../../webhooks/webhooks.ts'
import type { Database } from '../sqlite/database.ts'
import { all, fromRow, one, prepareAll } from '../sqlite/queries.ts'
import { type ChangeWatch, type RecordChange, recordIf, webhookChanges } from './history.ts'

const readRow = fromRow<Webhook & { readonly record: object }>({ record: JSON.parse, enabled: Boolean })

const toWebhook = (row: object): Webhook => {
  const { record, ...columns } = readRow(row)
  return { ...record, ...columns }
}

/** A key on this machine would protect nothing: a program that can read the database could read the key too. */
export const unsealed: SecretSeals = { seal: async (_, secret) => secret, open: async (_, sealed) => sealed }

export type WebhookKey = Pick<Webhook, 'site' | 'id'>

const columns = 'site, id, record, enabled, position, last_success AS lastSuccess, failing_since AS failingSince'

const delivered = 'id, position, type, at, attempt, status, fault, milliseconds'
const ofWebhook = 'site = ?1 AND webhook = ?2'

const queries = {
  get: one(`SELECT ${columns} FROM webhooks WHERE site = ? AND id = ?`, toWebhook),
  ofSite: all(`SELECT ${columns} FROM webhooks WHERE site = ? ORDER BY id`, toWebhook),
  enabled: all<WebhookKey>('SELECT site, id FROM webhooks WHERE enabled = 1'),
  store: `INSERT INTO webhooks (site, id, record, enabled, position, last_success, failing_since)
    VALUES (?1, ?2, ?3, ?4, coalesce(?5, (SELECT max(id) FROM changes WHERE site = ?1), 0), ?6, ?7)
    ON CONFLICT (site, id) DO UPDATE SET record = excluded.record, enabled = excluded.enabled,
      position = excluded.position, last_success = excluded.last_success, failing_since = excluded.failing_since`,
  remove: 'DELETE FROM webhooks WHERE site = ? AND id = ?',
  clear: 'DELETE FROM webhooks WHERE site = ?',
  deliveries: all(
    `SELECT ${delivered} FROM webhook_deliveries WHERE ${ofWebhook} ORDER BY id DESC`,
    fromRow<Delivery>(),
  ),
  insertDelivery: `INSERT OR REPLACE INTO webhook_deliveries (site, webhook, ${delivered})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  // Deliveries long after the newest one are older: the clock was set back. They are forgotten first.
  forgetDeliveries: `DELETE FROM webhook_deliveries WHERE ${ofWebhook} AND id IN (
    SELECT id FROM webhook_deliveries WHERE ${ofWebhook}
    ORDER BY at > ?3 + 60000, id DESC LIMIT -1 OFFSET ${keptDeliveries})`,
}

export const createWebhooks = (database: Database, record: RecordChange, changes: ChangeWatch) => {
  const { connection, read, write, note } = database
  const rows = prepareAll(connection, queries)

  const store = ({ site, id, enabled, position, lastSuccess, failingSince, ...others }: PlannedWebhook): void => {
    rows.store(site, id, others, enabled, position, lastSuccess, failingSince)
  }
  const replace = (site: SiteId, id: string, plan: PlanWebhook) => {
    const present = rows.get(site, id)
    const planned = present && plan(present)
    if (planned) store(planned)
    return planned
  }
  const changed = <Result>(result: Result): Result => {
    changes.wrote(webhookChanges)
    return result
  }

  return {
    listOfSite: (site) => read(() => rows.ofSite(site)),
    watch: (check: () => void) => changes.watch(webhookChanges, check),
    listEnabled: () => read(() => rows.enabled()),

    get: (site, id) => read(() => rows.get(site, id)),

    create: (webhook, entry) =>
      write(() => {
        if (rows.ofSite(webhook.site).length >= mostWebhooks) return false
        store(webhook)
        return recordIf(true, record, entry)
      }).then(changed),

    change: (site, id, plan, entry) =>
      write(() => (recordIf(replace(site, id, plan), record, entry) ? rows.get(site, id) : undefined)).then(changed),

    remove: (site, id, entry) => write(() => recordIf(rows.remove(site, id) === 1, record, entry)).then(changed),

    clear: (site) => write(() => void rows.clear(site)).then(changed),

    deliveries: (site, id) => read(() => rows.deliveries(site, id)),

    /** A power cut may lose an outcome. Then the delivery is repeated. */
    recordOutcome: (site, webhook, outcome) =>
      note(() => {
        const isStored = replace(site, webhook, (present) => withOutcome(present, outcome))
        if (!isStored || !outcome.delivery) return
        const { id, position, type, at, attempt, status, fault, milliseconds } = outcome.delivery
        rows.insertDelivery(site, webhook, id, position, type, at, attempt, status, fault, milliseconds)
        rows.forgetDeliveries(site, webhook, at)
      }),
  } satisfies Webhooks & Readonly<Record<string, unknown>>
}
