import { type Change, isAbout, isWantedType } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'
import { attemptDelivery, changeAt, type DeliveryDeps, recordDelivery } from './attempt-delivery.ts'
import { longestAttempt } from './target.ts'
import { type Delivery, isSuccess, mostRetries, type Retry, type Webhook } from './webhooks.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

const delays = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

const pauseWithoutRoom = 5 * minute

export const mostAtOnce = 100

export const isWanted = ({ types, subject }: Webhook, change: Change): boolean =>
  isWantedType(types, change.type) && isAbout(change, subject)

const retryAfter = (delivery: Delivery): { readonly retry?: Retry } => {
  const { position, attempt, at } = delivery
  const delay = isSuccess(delivery) ? undefined : delays[attempt - 1]
  if (delay === undefined) return {}
  return { retry: { position, attempt: attempt + 1, due: Math.round(at + delay * (0.8 + 0.4 * Math.random())) } }
}

/** V-10. A retry that is due after its longest delay was planned before the clock was set back. It is due now. */
const isDue = ({ attempt, due }: Retry, now: number): boolean =>
  due <= now || due > now + 1.2 * (delays[attempt - 2] ?? 0)

const hasRoom = ({ retries }: Webhook): boolean => retries.length < mostRetries

const repeat = async (deps: DeliveryDeps, webhook: Webhook, source: string, retry: Retry): Promise<void> => {
  const { position: ended, attempt } = retry
  const entry = await changeAt(deps, webhook.site, ended)
  if (!entry || !isWanted(webhook, entry)) return deps.deliveries.record(webhook.site, webhook.id, { ended })
  const delivery = await attemptDelivery(deps, webhook, entry, source, attempt)
  await recordDelivery(deps, webhook, delivery, { ended, ...retryAfter(delivery) })
}

/**
 * Sends the first of these entries that the webhook wants. Then the position of the webhook is this entry, or the last
 * entry if the webhook wants none.
 */
const sendFirst = async (deps: DeliveryDeps, webhook: Webhook, source: string, entries: readonly Change[]) => {
  const entry = entries.find((each) => isWanted(webhook, each))
  if (!entry) return deps.deliveries.record(webhook.site, webhook.id, { position: entries.at(-1)?.position ?? 0 })
  const delivery = await attemptDelivery(deps, webhook, entry, source)
  const isHandled = isSuccess(delivery) || hasRoom(webhook)
  const others = isHandled ? { position: entry.position, ...retryAfter(delivery) } : {}
  await recordDelivery(deps, webhook, delivery, others)
}

const pausedUntil = async (deps: DeliveryDeps, webhook: Webhook, now: number): Promise<number> => {
  if (webhook.failingSince === undefined || hasRoom(webhook)) return 0
  const recent = await deps.deliveries.recent(webhook.site, webhook.id)
  // Only the next entry is after the position of the webhook. Failing retries of earlier entries do not delay it.
  // A delivery long after now was made before the clock was set back.
  const last = recent.find(({ position, at }) => position > webhook.position && at < now + pauseWithoutRoom)
  return last ? last.at + pauseWithoutRoom : 0
}

const look = async (deps: DeliveryDeps, site: SiteId, id: string, now: number) => {
  const webhook = await deps.webhooks.get(site, id)
  const source = webhook?.enabled ? await deps.findSource(site) : undefined
  if (!webhook || source === undefined) return undefined
  const [retry] = webhook.retries
  const resumes = await pausedUntil(deps, webhook, now)
  const isPaused = resumes > now
  const next = isPaused ? Math.min(resumes, retry?.due ?? resumes) : retry?.due
  return { webhook, source, due: webhook.retries.find((each) => isDue(each, now)), isPaused, next }
}

const newEntries = async ({ history }: DeliveryDeps, { site, position }: Webhook, known: readonly Change[]) => {
  const rest = known.filter((entry) => entry.position > position)
  return rest.length > 0 ? rest : history.after(site, position, mostAtOnce)
}

/**
 * Delivers new entries and due retries in turns (V-9, V-10). One worker at a time may do this for a webhook. Returns
 * the time at which the next work is due, in milliseconds since the epoch: now, if the deadline ended the work. Errors:
 * unavailable.
 */
export const deliverNext = async (deps: DeliveryDeps, site: SiteId, id: string, deadline: Deadline) => {
  let entries: readonly Change[] = []
  for (let repeats = true; ; repeats = !repeats) {
    const now = deps.clock.wall()
    const seen = await look(deps, site, id, now)
    if (!seen) return undefined
    if (deadline.timeLeft() < longestAttempt) return now
    const { webhook, source, due, isPaused, next } = seen
    if (due && (repeats || isPaused)) {
      await repeat(deps, webhook, source, due)
      continue
    }
    entries = isPaused ? [] : await newEntries(deps, webhook, entries)
    if (entries.length > 0) await sendFirst(deps, webhook, source, entries)
    else if (!due) return next
  }
}
