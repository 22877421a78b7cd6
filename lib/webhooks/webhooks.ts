import type { ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/** V-2. `types` contains types such as `file.stored` or `file.*`. An empty list means all types. */
export interface WebhookSettings {
  readonly targetUrl: string
  readonly types: readonly string[]
  readonly subject: string
  readonly enabled: boolean
  readonly description: string
}

/** V-4. Only the signer opens a secret, so lists of webhooks need no key. Errors: unavailable. */
export interface SecretSeals {
  seal(webhook: Pick<Webhook, 'site' | 'id'>, secret: string): Promise<string>
  open(webhook: Pick<Webhook, 'site' | 'id'>, sealed: string): Promise<string>
}

/**
 * The newest secret is the first one, and only the newest has no `until` (V-5). Every entry up to `position` of the
 * history was delivered, is not wanted, or has a retry. An entry has at most one retry, and the retry that is due first
 * is the first one. Times are in milliseconds since the epoch.
 */
export interface Webhook extends WebhookSettings {
  readonly site: SiteId
  readonly id: string
  readonly secrets: readonly { readonly sealed: string; readonly until?: number }[]
  readonly position: number
  readonly retries: readonly Retry[]
  readonly lastSuccess?: number
  readonly failingSince?: number
}

export const mostWebhooks = 20

/**
 * The port to the webhooks of the sites. Lists are sorted by id. `create` returns false if the site already has
 * `mostWebhooks`. `change` stores and returns the webhook that the given function returns. It returns undefined if the
 * webhook does not exist or if the function returns undefined. After a race, `change` may call this function again.
 * `remove` also removes deliveries, and returns false if the webhook does not exist. `clear` is for a site that is
 * removed. Errors of every call: unavailable.
 */
export interface Webhooks {
  listOfSite(site: SiteId): Promise<readonly Webhook[]>
  get(site: SiteId, id: string): Promise<Webhook | undefined>
  create(webhook: Webhook, entry: HistoryEntry): Promise<boolean>
  change(
    site: SiteId,
    id: string,
    change: (present: Webhook) => Webhook | undefined,
    entry: HistoryEntry,
  ): Promise<Webhook | undefined>
  remove(site: SiteId, id: string, entry: HistoryEntry): Promise<boolean>
  clear(site: SiteId): Promise<void>
}

/**
 * One attempt to deliver an entry. The first attempt is 1. `at` is in milliseconds since the epoch. `fault` is the
 * reason why `status` is missing.
 */
export interface Delivery {
  readonly id: string
  readonly position: number
  readonly type: ChangeType
  readonly at: number
  readonly attempt: number
  readonly status?: number
  readonly fault?: string
  readonly milliseconds: number
}

export interface TestDelivery extends Omit<Delivery, 'type' | 'position'> {
  readonly type: 'webhook.test'
}

export const isSuccess = ({ status = 0 }: Pick<Delivery, 'status'>): boolean => status >= 200 && status <= 299

/** V-10. A failed delivery that is to be repeated. `attempt` is the number of the next attempt. */
export interface Retry {
  readonly position: number
  readonly attempt: number
  readonly due: number
}

/**
 * Without a delivery, the webhook does not want the entries up to `position`. With a position, the delivery is a first
 * attempt. `ended` is the position of the entry whose retry ends.
 */
export interface Outcome {
  readonly delivery?: Delivery
  readonly position?: number
  readonly retry?: Retry
  readonly ended?: number
}

export const withOutcome = (
  { failingSince, ...webhook }: Webhook,
  { delivery, position = 0, retry, ended = retry?.position }: Outcome,
): Webhook => {
  const others = webhook.retries.filter((each) => each.position !== ended)
  const isOpen = position > webhook.position || others.length < webhook.retries.length
  const retries = [...others, ...(retry && isOpen ? [retry] : [])].toSorted((one, other) => one.due - other.due)
  const after = { ...webhook, position: Math.max(webhook.position, position), retries }
  if (delivery && isSuccess(delivery)) return { ...after, lastSuccess: delivery.at }
  const since = failingSince ?? delivery?.at
  return since === undefined ? after : { ...after, failingSince: since }
}

export const keptDeliveries = 100

export const mostRetries = 500

/**
 * The port of the sender. `recent` has the last `keptDeliveries`, the newest first. `record` stores the outcome of an
 * attempt (`withOutcome`), and does nothing if the webhook was removed. The position only grows, so a late worker
 * cannot set it back. Such a worker also brings back no retry that a repetition or the enabling has ended meanwhile.
 * Errors of every call: unavailable.
 */
export interface WebhookDeliveries {
  recent(site: SiteId, id: string): Promise<readonly Delivery[]>
  record(site: SiteId, id: string, outcome: Outcome): Promise<void>
}
