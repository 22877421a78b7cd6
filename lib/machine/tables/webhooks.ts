import type { SiteId } from '../../core/ids.ts'
import {
  type Delivery,
  isSuccess,
  keptDeliveries,
  mostWebhooks,
  type Outcome,
  type Retry,
  type SecretSeals,
  type Webhook,
  type WebhookDeliveries,
  type Webhooks,
  withChange,
} from '../../webhooks/webhooks.ts'
import type { Database } from '../sqlite/database.ts'
import { type Flag, prepareAll, query } from '../sqlite/queries.ts'
import { type ChangeWatch, webhookChanges } from './change-watch.ts'
import { type RecordChange, recordIf } from './history.ts'

interface WebhookRow extends Pick<Webhook, 'site' | 'id' | 'position'> {
  readonly record: string
  readonly enabled: Flag
  readonly last_success: number | null
  readonly failing_since: number | null
}

const toWebhook = ({ site, id, record, enabled, position, last_success, failing_since }: WebhookRow): Webhook => ({
  ...JSON.parse(record),
  site,
  id,
  enabled: enabled === 1,
  position,
  ...(last_success !== null && { lastSuccess: last_success }),
  ...(failing_since !== null && { failingSince: failing_since }),
})

const recordOf = ({ targetUrl, types, subject, description, secrets }: Webhook): string =>
  JSON.stringify({ targetUrl, types, subject, description, secrets })

/** A key on this machine would protect nothing: a program that can read the database could read the key too. */
export const unsealed: SecretSeals = { seal: async (_, secret) => secret, open: async (_, sealed) => sealed }

/** A webhook of any site, for the sender of this machine. */
export type WebhookKey = Pick<Webhook, 'site' | 'id'>

export const createWebhooks = (
  { connection, read, write }: Database,
  record: RecordChange,
  { wrote, watch }: Pick<ChangeWatch, 'wrote' | 'watch'>,
) => {
  const rows = prepareAll(connection, {
    get: query('SELECT * FROM webhooks WHERE site = ? AND id = ?', toWebhook),
    ofSite: query('SELECT * FROM webhooks WHERE site = ? ORDER BY id', toWebhook),
    enabled: query<WebhookKey>('SELECT site, id FROM webhooks WHERE enabled = 1'),
    insert: 'INSERT INTO webhooks (site, id, record, enabled, position) VALUES (?, ?, ?, ?, ?)',
    replace:
      'UPDATE webhooks SET record = ?3, enabled = ?4, position = ?5, failing_since = ?6 WHERE site = ?1 AND id = ?2',
    forgetRetries: 'DELETE FROM webhook_retries WHERE site = ? AND webhook = ?',
    remove: 'DELETE FROM webhooks WHERE site = ? AND id = ?',
    clear: 'DELETE FROM webhooks WHERE site = ?',
  })
  const changed = <Result>(result: Result): Result => {
    wrote(webhookChanges)
    return result
  }

  return {
    listOfSite: (site) => read(() => rows.ofSite.all(site)),
    /** Calls `check` whenever the webhooks of a site may have changed. The returned function ends these calls. */
    watch: (check: () => void) => watch(webhookChanges, check),
    listEnabled: () => read(() => rows.enabled.all()),

    get: (site, id) => read(() => rows.get.get(site, id)),

    create: (webhook, entry) =>
      write(() => {
        if (rows.ofSite.all(webhook.site).length >= mostWebhooks) return false
        const { site, id, enabled, position } = webhook
        rows.insert.run(site, id, recordOf(webhook), enabled ? 1 : 0, position)
        record(entry)
        return true
      }).then(changed),

    change: (site, id, change, entry) =>
      write(() => {
        const present = rows.get.get(site, id)
        const wanted = present && change(present)
        if (!wanted) return undefined
        const after = withChange(present, wanted)
        rows.replace.run(site, id, recordOf(after), after.enabled ? 1 : 0, after.position, after.failingSince ?? null)
        if (wanted.forgetsFailures) rows.forgetRetries.run(site, id)
        record(entry)
        return after
      }).then(changed),

    remove: (site, id, entry) =>
      write(() => recordIf(rows.remove.run(site, id).changes === 1, record, entry)).then(changed),

    clear: (site) => write(() => void rows.clear.run(site)).then(changed),
  } satisfies Webhooks & Readonly<Record<string, unknown>>
}

interface DeliveryRow extends Omit<Delivery, 'status' | 'fault'> {
  readonly status: number | null
  readonly fault: string | null
}

const toDelivery = ({ status, fault, ...row }: DeliveryRow): Delivery => ({
  ...row,
  ...(status !== null && { status }),
  ...(fault !== null && { fault }),
})

export const createWebhookDeliveries = ({ connection, read, note }: Database): WebhookDeliveries => {
  const ofWebhook = 'site = ?1 AND webhook = ?2'
  const rows = prepareAll(connection, {
    exists: query<WebhookKey>('SELECT site, id FROM webhooks WHERE site = ? AND id = ?'),
    recent: query(
      `SELECT id, position, type, at, attempt, status, fault, milliseconds FROM webhook_deliveries
       WHERE ${ofWebhook} ORDER BY id DESC`,
      toDelivery,
    ),
    retries: query<Retry>(
      `SELECT position, attempt, due FROM webhook_retries WHERE ${ofWebhook} ORDER BY due, position LIMIT +?3`,
    ),
    insert: `INSERT OR REPLACE INTO webhook_deliveries
      (site, webhook, id, position, type, at, attempt, status, fault, milliseconds)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    forgetOld: `DELETE FROM webhook_deliveries WHERE ${ofWebhook} AND id <= (
      SELECT id FROM webhook_deliveries WHERE ${ofWebhook} ORDER BY id DESC LIMIT 1 OFFSET ${keptDeliveries})`,
    succeeded: 'UPDATE webhooks SET last_success = ?3, failing_since = NULL WHERE site = ?1 AND id = ?2',
    failed: 'UPDATE webhooks SET failing_since = coalesce(failing_since, ?3) WHERE site = ?1 AND id = ?2',
    advance: 'UPDATE webhooks SET position = max(position, ?3) WHERE site = ?1 AND id = ?2',
    end: `DELETE FROM webhook_retries WHERE ${ofWebhook} AND position = ?3 AND attempt = ?4`,
    repeatLater:
      'INSERT OR REPLACE INTO webhook_retries (site, webhook, position, attempt, due) VALUES (?, ?, ?, ?, ?)',
  })

  const addDelivery = (site: SiteId, webhook: string, delivery: Delivery): void => {
    const { id, position, type, at, attempt, status, fault, milliseconds } = delivery
    rows.insert.run(site, webhook, id, position, type, at, attempt, status ?? null, fault ?? null, milliseconds)
    rows.forgetOld.run(site, webhook)
    const outcome = isSuccess(delivery) ? rows.succeeded : rows.failed
    outcome.run(site, webhook, at)
  }

  return {
    recent: (site, id) => read(() => rows.recent.all(site, id)),
    retries: (site, id, limit) => read(() => rows.retries.all(site, id, limit)),

    /** A power cut may lose an outcome. Then the delivery is repeated. */
    record: (site, id, { delivery, position, retry, ended }: Outcome) =>
      note(() => {
        if (!rows.exists.get(site, id)) return
        if (delivery) addDelivery(site, id, delivery)
        if (ended) rows.end.run(site, id, ended.position, ended.attempt)
        if (retry) rows.repeatLater.run(site, id, retry.position, retry.attempt, retry.due)
        if (position !== undefined) rows.advance.run(site, id, position)
      }),
  }
}
