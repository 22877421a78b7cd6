import { randomUUID } from 'node:crypto'
import { ServiceError } from '../core/errors.ts'
import { type Change, isAbout, isWantedType, viewOfChange } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Clock, Deadline } from '../core/time.ts'
import { longestAttempt, messageOf, type ReportedView, type Target } from './target.ts'
import {
  type Delivery,
  isSuccess,
  mostRetries,
  type Outcome,
  type Retry,
  type SecretSeals,
  viewOfDelivery,
  type Webhook,
  type Webhooks,
  webhookEntry,
} from './webhooks.ts'

export interface DeliveryDeps {
  readonly webhooks: Pick<Webhooks, 'get' | 'change' | 'deliveries' | 'recordOutcome'>
  readonly seals: Pick<SecretSeals, 'open'>
  readonly history: { after(site: SiteId, position: number, limit: number): Promise<readonly Change[]> }
  readonly findSource: (site: SiteId) => Promise<string | undefined>
  readonly target: Pick<Target, 'send'>
  readonly clock: Clock
}

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

const longestFailure = 5 * 24 * hour

const postEvent = async ({ findSource, seals, target, clock }: DeliveryDeps, webhook: Webhook, view: ReportedView) => {
  const source = await findSource(webhook.site)
  if (source === undefined) throw new ServiceError('webhookUnknown')
  const at = Math.floor(clock.wall())
  const current = webhook.secrets.filter(({ until = at + 1 }) => until > at)
  const secrets = await Promise.all(current.map(({ sealed }) => seals.open(webhook, sealed)))
  const message = messageOf(view, source, at, secrets)
  const began = clock.monotonic()
  const answer = await target.send({ url: webhook.targetUrl, ...message })
  return { at, ...answer, milliseconds: Math.round(clock.monotonic() - began) }
}

const isOver = ({ status, at }: Delivery, failingSince = at): boolean =>
  status === 410 || at - failingSince >= longestFailure

const attemptDelivery = async (
  deps: DeliveryDeps,
  webhook: Webhook,
  change: Change,
  attempt: number,
): Promise<Delivery> => {
  const { position, type } = change
  const { at, ...answer } = await postEvent(deps, webhook, viewOfChange(change))
  const id = `dlv_${String(at).padStart(14, '0')}-${String(position).padStart(16, '0')}-${attempt}`
  return { id, position, type, at, attempt, ...answer }
}

/** V-11. A webhook that was changed meanwhile stays enabled. */
const recordDelivery = async ({ webhooks }: DeliveryDeps, webhook: Webhook, delivery: Delivery, outcome: Outcome) => {
  const { site, id, targetUrl, failingSince } = webhook
  await webhooks.recordOutcome(site, id, { ...outcome, delivery })
  if (isSuccess(delivery) || !isOver(delivery, failingSince)) return
  const plan = (present: Webhook) => {
    const isSame = present.enabled && present.targetUrl === targetUrl
    return isSame && isOver(delivery, present.failingSince) ? { ...present, enabled: false } : undefined
  }
  await webhooks.change(site, id, plan, webhookEntry('webhook.disabled', webhook, { actor: 'system' }))
}

const delays = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

const pauseWithoutRoom = 5 * minute

const mostAtOnce = 100

const firstWanted = ({ types, subject }: Webhook, changes: readonly Change[]): Change | undefined => {
  const start = subject.normalize('NFC')
  return changes.find((change) => isWantedType(types, change.type) && isAbout(change, start))
}

const wantedAt = async ({ history }: DeliveryDeps, webhook: Webhook, position: number) => {
  const [change] = await history.after(webhook.site, position - 1, 1)
  return change?.position === position ? firstWanted(webhook, [change]) : undefined
}

/** V-10. This entry failed when there was no room for another retry. All later entries wait for it. */
const isAwaited = ({ attempt }: Retry): boolean => attempt === 1

const retryAfter = ({ retries }: Webhook, delivery: Delivery): Retry | undefined => {
  const { position, attempt, at } = delivery
  const delay = delays[attempt - 1]
  if (isSuccess(delivery) || delay === undefined) return undefined
  const others = retries.filter((each) => each.position !== position)
  if (attempt === 1 && others.length >= mostRetries) return { position, attempt, due: at + pauseWithoutRoom }
  return { position, attempt: attempt + 1, due: Math.round(at + delay * (0.8 + 0.4 * Math.random())) }
}

/** V-10. A retry that is due after its longest delay was planned before the clock was set back. It is due now. */
const isDue = ({ attempt, due }: Retry, now: number): boolean =>
  due <= now || due > now + 1.2 * (delays[attempt - 2] ?? pauseWithoutRoom)

/** Sends the wanted entry at a position. Without one, only the position counts as handled. */
const handle = async (deps: DeliveryDeps, webhook: Webhook, position: number, entry?: Change, attempt = 1) => {
  if (!entry) return deps.webhooks.recordOutcome(webhook.site, webhook.id, { position })
  const delivery = await attemptDelivery(deps, webhook, entry, attempt)
  await recordDelivery(deps, webhook, delivery, { position, retry: retryAfter(webhook, delivery) })
}

const sendFirst = (deps: DeliveryDeps, webhook: Webhook, entries: readonly Change[]) => {
  const entry = firstWanted(webhook, entries)
  return handle(deps, webhook, (entry ?? entries.at(-1))?.position ?? 0, entry)
}

const look = async (deps: DeliveryDeps, site: SiteId, id: string, now: number, known: readonly Change[]) => {
  const webhook = await deps.webhooks.get(site, id)
  if (!webhook?.enabled || (await deps.findSource(site)) === undefined) return undefined
  const { position, retries, failingSince, announcedBy = 0 } = webhook
  const awaited = retries.find(isAwaited)
  const due = awaited && failingSince === undefined ? awaited : retries.find((each) => isDue(each, now))
  const times = [...(announcedBy > now ? [announcedBy] : []), ...retries.slice(0, 1).map((first) => first.due)]
  const [next] = times.toSorted((one, other) => one - other)
  const isPaused = awaited !== undefined
  const isLate = known.some((entry) => entry.position > position && entry.at < now - minute)
  const state = { failingSince, isWaiting: isPaused || isLate }
  return { webhook, due, isPaused, next, state }
}

const newEntries = async ({ history, clock }: DeliveryDeps, webhook: Webhook, known: readonly Change[]) => {
  const { site, id, position, announcedBy, announcedIn } = webhook
  const rest = known.filter((entry) => entry.position > position)
  const entries = rest.length > 0 ? rest : await history.after(site, position, mostAtOnce)
  if (announcedBy === undefined) return entries
  const own = entries.findIndex(({ subject, requestId }) => subject === `webhook/${id}` && requestId === announcedIn)
  return own < 0 && clock.wall() < announcedBy ? [] : entries.slice(Math.max(own, 0))
}

/**
 * Delivers new entries and due retries in turns (V-9, V-10). One worker at a time may do this for a webhook. Returns
 * the time at which the next work is due, in milliseconds since the epoch: now, if the deadline ended the work. Also
 * returns since when the webhook fails, and whether it waits (V-26). Errors: webhookUnknown, unavailable.
 */
export const deliverNext = async (deps: DeliveryDeps, site: SiteId, id: string, deadline: Deadline) => {
  let entries: readonly Change[] = []
  for (let repeats = true; ; repeats = !repeats) {
    const now = deps.clock.wall()
    const seen = await look(deps, site, id, now, entries)
    if (!seen) return { next: undefined, failingSince: undefined, isWaiting: false }
    const { webhook, due, isPaused, next, state } = seen
    if (deadline.timeLeft() < longestAttempt) return { next: now, ...state }
    if (due && (repeats || isPaused)) {
      await handle(deps, webhook, due.position, await wantedAt(deps, webhook, due.position), due.attempt)
      continue
    }
    entries = isPaused ? [] : await newEntries(deps, webhook, entries)
    if (entries.length > 0) await sendFirst(deps, webhook, entries)
    else if (!due) return { next, ...state }
  }
}

/** V-12. Errors: webhookUnknown, unavailable. */
export const sendTest = async (deps: DeliveryDeps, webhook: Webhook) => {
  const id = `test-${randomUUID()}`
  const at = new Date(deps.clock.wall()).toISOString()
  const others = { actor: 'system', requestId: null, details: null }
  const view = { id, at, type: 'webhook.test', subject: `webhook/${webhook.id}`, ...others } as const
  const sent = await postEvent(deps, webhook, view)
  return viewOfDelivery({ id, type: view.type, attempt: 1, ...sent })
}

/** V-13. A success ends the retry of the entry. Errors: deliveryUnknown, webhookUnknown, unavailable. */
export const repeatDelivery = async (deps: DeliveryDeps, webhook: Webhook, id: string) => {
  const before = (await deps.webhooks.deliveries(webhook.site, webhook.id)).find((delivery) => delivery.id === id)
  const entry = before && (await wantedAt(deps, webhook, before.position))
  if (!entry) throw new ServiceError('deliveryUnknown')
  const delivery = await attemptDelivery(deps, webhook, entry, before.attempt + 1)
  await recordDelivery(deps, webhook, delivery, isSuccess(delivery) ? { position: entry.position } : {})
  return viewOfDelivery(delivery)
}
