import type { ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/** V-2. `types` has types such as `file.stored` or `file.*`, and is empty for all types. */
export interface WebhookSettings {
  readonly targetUrl: string
  readonly types: readonly string[]
  readonly subject: string
  readonly enabled: boolean
  readonly description: string
}

/** V-5. `until` is in milliseconds since the epoch. The newest secret has none. */
export interface WebhookSecret {
  readonly sealed: string
  readonly until?: number
}

/** V-4. Only the signer opens a secret, so lists of webhooks need no key. Errors: unavailable. */
export interface SecretSeals {
  seal(webhook: Pick<Webhook, 'site' | 'id'>, secret: string): Promise<string>
  open(webhook: Pick<Webhook, 'site' | 'id'>, sealed: string): Promise<string>
}

export interface Webhook extends WebhookSettings {
  readonly site: SiteId
  readonly id: string
  /** The newest secret first. */
  readonly secrets: readonly WebhookSecret[]
  /** Every entry up to this position of the history was delivered, is not wanted, or has a row in `retries`. */
  readonly position: number
  /** In milliseconds since the epoch. */
  readonly lastSuccess?: number
  readonly failingSince?: number
}

export type WebhookChange = Partial<WebhookSettings & Pick<Webhook, 'secrets' | 'position'>> & {
  /** The webhook is enabled again, so that its failures count from the beginning. */
  readonly forgetsFailures?: true
}

export const withChange = (webhook: Webhook, { forgetsFailures, ...members }: WebhookChange): Webhook => {
  const { failingSince, ...changed } = { ...webhook, ...members }
  return { ...changed, ...(failingSince !== undefined && !forgetsFailures && { failingSince }) }
}

export const mostWebhooks = 20

/** The port to the webhooks of the sites. Errors of every call: unavailable. */
export interface Webhooks {
  /** Sorted by id. */
  listOfSite(site: SiteId): Promise<readonly Webhook[]>
  get(site: SiteId, id: string): Promise<Webhook | undefined>
  /** Returns false if the site already has `mostWebhooks`. */
  create(webhook: Webhook, entry: HistoryEntry): Promise<boolean>
  /**
   * Returns the changed webhook, or undefined if it does not exist or `change` returns undefined. `change` may be called
   * again after a race.
   */
  change(
    site: SiteId,
    id: string,
    change: (present: Webhook) => WebhookChange | undefined,
    entry: HistoryEntry,
  ): Promise<Webhook | undefined>
  /** Also removes the deliveries and the retries of the webhook. Returns false if the webhook does not exist. */
  remove(site: SiteId, id: string, entry: HistoryEntry): Promise<boolean>
  /** Removes all webhooks of a site, because the site is removed. */
  clear(site: SiteId): Promise<void>
}

/** One attempt to deliver an entry. Times are in milliseconds, `at` since the epoch. */
export interface Delivery {
  readonly id: string
  readonly position: number
  readonly type: ChangeType
  readonly at: number
  /** The first attempt is 1. */
  readonly attempt: number
  /** Undefined if no answer arrived. `fault` has the reason. */
  readonly status?: number
  readonly fault?: string
  readonly milliseconds: number
}

export const isSuccess = ({ status = 0 }: Pick<Delivery, 'status'>): boolean => status >= 200 && status <= 299

/** V-10. A failed delivery that is to be repeated. `attempt` is the number of the next attempt. */
export interface Retry {
  readonly position: number
  readonly attempt: number
  readonly due: number
}

export interface Outcome {
  /** Undefined if the webhook does not want the entries up to `position`. */
  readonly delivery?: Delivery
  /** The new position of the webhook, after a first attempt. */
  readonly position?: number
  readonly retry?: Retry
  /** The retry that this attempt ends. */
  readonly ended?: Retry
}

export const keptDeliveries = 100

/** The port of the sender. Errors of every call: unavailable. */
export interface WebhookDeliveries {
  /** The last `keptDeliveries`, the newest first. */
  recent(site: SiteId, id: string): Promise<readonly Delivery[]>
  /** Up to `limit` retries, by their due times. */
  retries(site: SiteId, id: string, limit: number): Promise<readonly Retry[]>
  /**
   * Stores the outcome of an attempt. A store that cannot write everything at once writes the retry first and the
   * position next, so that a lost process causes a second delivery and never a missing one. A delivery with a status
   * of 200 to 299 sets `lastSuccess` and ends `failingSince`. Another delivery begins `failingSince`.
   */
  record(site: SiteId, id: string, outcome: Outcome): Promise<void>
}
