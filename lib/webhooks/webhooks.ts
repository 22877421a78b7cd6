import { randomBytes } from 'node:crypto'
import { ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { definedMembers } from '../core/names.ts'

/** V-2. `types` contains types such as `file.stored` or `file.*`. An empty list means all types. */
interface WebhookSettings {
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
 * The newest secret is the first one, and only the newest has no `until` (V-5). The entries of the history up to
 * `position` were delivered, are not wanted, or have a retry. An entry has at most one retry, and the retry that is due first
 * is the first one. On AWS, others may record entries between the position of a new or enabled webhook and its own entry.
 * Until `announcedBy`, the webhook waits for the entry of the request `announcedIn` (V-4, V-5). Times are in
 * milliseconds since the epoch.
 */
export interface Webhook extends WebhookSettings {
  readonly site: SiteId
  readonly id: string
  readonly secrets: readonly { readonly sealed: string; readonly until?: number }[]
  readonly position: number
  readonly announcedBy?: number
  readonly announcedIn?: string | undefined
  readonly retries: readonly Retry[]
  readonly lastSuccess?: number
  readonly failingSince?: number | undefined
}

export type PlannedWebhook = Omit<Webhook, 'position'> & { readonly position?: number | undefined }
export type PlanWebhook = (present: Webhook) => PlannedWebhook | undefined

/** An attempt to deliver an entry, counted from 1. `at` is in milliseconds. `fault` says why `status` is missing. */
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

export const isSuccess = ({ status = 0 }: Pick<Delivery, 'status'>): boolean => status >= 200 && status <= 299

/** V-10. A failed delivery that is to be repeated. `attempt` is the number of the next attempt. */
export type Retry = Pick<Delivery, 'position' | 'attempt'> & { readonly due: number }

/**
 * Ends the retry of the entry at `position`, unless `retry` renews it. All entries up to `position` are handled. Without
 * a position, a repetition of V-13 has failed, which changes no retry.
 */
export interface Outcome {
  readonly position?: number
  readonly delivery?: Delivery
  readonly retry?: Retry | undefined
}

export const withOutcome = (
  { failingSince, announcedBy, ...webhook }: Webhook,
  { position = 0, delivery, retry }: Outcome,
): Webhook => {
  const others = webhook.retries.filter((each) => each.position !== position)
  const advances = position > webhook.position
  const isOpen = advances || others.length < webhook.retries.length
  const retries = [...others, ...(retry && isOpen ? [retry] : [])].toSorted((one, other) => one.due - other.due)
  const waiting = announcedBy !== undefined && !advances && { announcedBy }
  const after = { ...webhook, position: Math.max(webhook.position, position), retries, ...waiting }
  if (delivery && isSuccess(delivery)) return { ...after, lastSuccess: delivery.at }
  const since = delivery ? Math.min(delivery.at, failingSince ?? delivery.at) : failingSince
  return { ...after, failingSince: since }
}

export const mostWebhooks = 20
export const keptDeliveries = 100
export const mostRetries = 500

/**
 * The port to the webhooks of the sites. Lists are sorted by id. `create` returns false if the site already has
 * `mostWebhooks`. A webhook without a position gets the end of the history as its position (V-4, V-5). `change` stores
 * and returns the planned webhook. It returns undefined if the webhook does not exist or if the plan is undefined. After
 * a race, `change` may plan again. `remove` also removes deliveries, and returns false if the webhook does not exist.
 * `clear` is for a site that is removed. `deliveries` has the last `keptDeliveries`, the newest first. `recordOutcome`
 * stores the outcome of an attempt (`withOutcome`), and does nothing if the webhook was removed. The position only grows,
 * so a late worker cannot set it back. A late worker also brings back no retry that was ended meanwhile, by a repetition
 * or by enabling. Errors of every call: unavailable.
 */
export interface Webhooks {
  listOfSite(site: SiteId): Promise<readonly Webhook[]>
  get(site: SiteId, id: string): Promise<Webhook | undefined>
  create(webhook: PlannedWebhook, entry: HistoryEntry): Promise<boolean>
  change(site: SiteId, id: string, plan: PlanWebhook, entry: HistoryEntry): Promise<Webhook | undefined>
  remove(site: SiteId, id: string, entry: HistoryEntry): Promise<boolean>
  clear(site: SiteId): Promise<void>
  deliveries(site: SiteId, id: string): Promise<readonly Delivery[]>
  recordOutcome(site: SiteId, id: string, outcome: Outcome): Promise<void>
}

/** V-2. The lengths of `targetUrl`, `subject` and `description` are in characters. */
export const longest = { targetUrl: 2_000, types: 50, subject: 1_024, description: 200 } as const

/** V-2: an address of http or https without user, password, fragment and control characters. */
export const isTarget = (text: string): boolean => {
  const url = URL.parse(text)
  if (!url || !/^https?:\/\/[^/#\p{Cc}][^#\p{Cc}]*$/iu.test(text) || text.length > longest.targetUrl) return false
  return url.username === '' && url.password === '' && text.isWellFormed()
}

export const isPermitted = (target: string, permitsPrivate: boolean): boolean => {
  const { protocol, hostname } = new URL(target)
  return protocol === 'https:' || (permitsPrivate && hostname === '127.0.0.1')
}

export const isOneLine = (text: string): boolean => /^\P{Cc}*$/u.test(text) && text.isWellFormed()

const timeOf = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString())

export const viewOfWebhook = (webhook: PlannedWebhook) => {
  const { id, site: siteId, targetUrl, types, subject, enabled, description, lastSuccess, failingSince } = webhook
  const times = { lastSuccess: timeOf(lastSuccess), failingSince: timeOf(failingSince) }
  return { id, siteId, targetUrl, types, subject, enabled, description, ...times }
}

type AnyDelivery = Omit<Delivery, 'type' | 'position'> & { readonly type: ChangeType | 'webhook.test' }

export const viewOfDelivery = ({ id, at, type, status, fault, milliseconds, attempt }: AnyDelivery) => ({
  id,
  time: new Date(at).toISOString(),
  type,
  status: status ?? null,
  ...(fault !== undefined && { fault }),
  milliseconds,
  attempt,
})

/** V-3: the address of a target may contain a secret, so the history has only its host. */
export const webhookEntry = (
  type: 'webhook.created' | 'webhook.changed' | 'webhook.removed' | 'webhook.disabled',
  { site, id, targetUrl }: Pick<Webhook, 'site' | 'id' | 'targetUrl'>,
  author: Author,
): HistoryEntry => {
  const { host } = new URL(targetUrl)
  return { ...author, type, site, subject: `webhook/${id}`, details: { host } }
}

type Given<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

type NewWebhook = Given<WebhookSettings> & Pick<WebhookSettings, 'targetUrl'>

interface Stores {
  readonly webhooks: Webhooks
  readonly seals: Pick<SecretSeals, 'seal'>
}

const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

/** Errors: webhookUnknown, unavailable. */
export const findWebhook = async ({ webhooks }: Pick<Stores, 'webhooks'>, site: SiteId, id: string) => {
  const found = /^whk_[0-9a-f]{16}$/.test(id) ? await webhooks.get(site, id) : undefined
  if (!found) throw new ServiceError('webhookUnknown')
  return found
}

/** V-2, V-4. Errors: tooManyWebhooks, unavailable. */
export const createWebhook = async (stores: Stores, site: SiteId, given: NewWebhook, author: Author) => {
  const { targetUrl, types = [], subject = '', enabled = true, description = '' } = given
  const id = `whk_${randomBytes(8).toString('hex')}`
  const secret = newSecret()
  const sealed = await stores.seals.seal({ site, id }, secret)
  const settings = { targetUrl, types, subject, enabled, description }
  const webhook = { site, id, ...settings, secrets: [{ sealed }], retries: [], announcedIn: author.requestId }
  const isCreated = await stores.webhooks.create(webhook, webhookEntry('webhook.created', webhook, author))
  if (!isCreated) throw new ServiceError('tooManyWebhooks')
  return { ...viewOfWebhook(webhook), secret }
}

/** V-5. `time` is in milliseconds. */
const overlap = { time: 24 * 3600 * 1000, mostSecrets: 4 } as const

// Keeps several secrets: callers who lose the answer to a rotation rotate again, and their receiver may still know only
// the first secret.
const withNew = (present: Webhook['secrets'], sealed: string, now: number): Webhook['secrets'] => {
  const previous = present.map((secret) => ({ ...secret, until: secret.until ?? now + overlap.time }))
  return [{ sealed }, ...previous].slice(0, overlap.mostSecrets)
}

/** V-5. `check` throws if the current webhook may not be changed. Errors: webhookUnknown, unavailable. */
export const changeWebhook = async (
  stores: Stores,
  { site, id, targetUrl }: Webhook,
  { rotate, ...settings }: Given<WebhookSettings & { readonly rotate: boolean }>,
  { author, now, check = () => {} }: { author: Author; now: number; check?: (present: Webhook) => void },
) => {
  const secret = rotate ? newSecret() : undefined
  const sealed = secret && (await stores.seals.seal({ site, id }, secret))
  const given = definedMembers(settings)
  const plan = (present: Webhook) => {
    check(present)
    const secrets = sealed ? withNew(present.secrets, sealed, now) : present.secrets
    const isEnabled = settings.enabled && !present.enabled
    const isAnew = isEnabled || (settings.targetUrl ?? present.targetUrl) !== present.targetUrl
    const changed = { ...present, ...given, secrets, ...(isAnew && { failingSince: undefined }) }
    return isEnabled ? { ...changed, position: undefined, retries: [], announcedIn: author.requestId } : changed
  }
  const entry = webhookEntry('webhook.changed', { site, id, targetUrl: settings.targetUrl ?? targetUrl }, author)
  const webhook = await stores.webhooks.change(site, id, plan, entry)
  if (!webhook) throw new ServiceError('webhookUnknown')
  return { ...viewOfWebhook(webhook), ...(secret && { secret }) }
}

/** V-32. Errors: webhookUnknown, unavailable. */
export const removeWebhook = async (
  { webhooks }: Pick<Stores, 'webhooks'>,
  webhook: Pick<Webhook, 'site' | 'id' | 'targetUrl'>,
  author: Author,
): Promise<void> => {
  const isRemoved = await webhooks.remove(webhook.site, webhook.id, webhookEntry('webhook.removed', webhook, author))
  if (!isRemoved) throw new ServiceError('webhookUnknown')
}
