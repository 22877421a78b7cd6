import { createHmac } from 'node:crypto'
import { type Change, type ChangeType, viewOfChange } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Clock } from '../core/time.ts'
import { webhookEntry } from './change-webhook.ts'
import type { Target } from './target.ts'
import type { WebhookDeliveries, Webhooks } from './webhooks.ts'
import { type Delivery, isSuccess, type Outcome, type SecretSeals, type Webhook } from './webhooks.ts'

export interface DeliveryDeps {
  readonly webhooks: Pick<Webhooks, 'get' | 'change'>
  readonly deliveries: WebhookDeliveries
  readonly seals: Pick<SecretSeals, 'open'>
  readonly history: { after(site: SiteId, position: number, limit: number): Promise<readonly Change[]> }
  readonly findSource: (site: SiteId) => Promise<string | undefined>
  readonly target: Pick<Target, 'send'>
  readonly clock: Clock
}

interface ReportedView extends Pick<ReturnType<typeof viewOfChange>, 'id' | 'at' | 'subject'> {
  readonly type: ChangeType | 'webhook.test'
}

/** V-6. A CloudEvent in structured mode. `source` is the API address of the site. */
const eventOf = (view: ReportedView, source: string) => ({
  specversion: '1.0',
  id: view.id,
  source,
  type: `site-admin.${view.type}`,
  ...(view.subject !== '' && { subject: view.subject }),
  time: view.at,
  datacontenttype: 'application/json',
  data: view,
})

/** V-11, in milliseconds. */
const longestFailure = 5 * 24 * 3600 * 1000

const secretPrefix = 'whsec_'

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(secretPrefix.length), 'base64')

/** V-7, as described in Standard Webhooks. `time` is in milliseconds since the epoch. */
const signEvent = (id: string, time: number, body: string, secrets: readonly string[]) => {
  const timestamp = String(Math.floor(time / 1000))
  const signatureOf = (secret: string) =>
    `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(signatureOf).join(' '),
  }
}

export const postEvent = async (deps: DeliveryDeps, webhook: Webhook, view: ReportedView, source: string) => {
  const { seals, target, clock } = deps
  const at = Math.floor(clock.wall())
  const current = webhook.secrets.filter(({ until = at + 1 }) => until > at)
  const secrets = await Promise.all(current.map(({ sealed }) => seals.open(webhook, sealed)))
  const body = JSON.stringify(eventOf(view, source))
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'site-admin',
    ...signEvent(view.id, at, body, secrets),
  }
  const began = clock.monotonic()
  const answer = await target.send({ url: webhook.targetUrl, headers, body })
  return { at, ...answer, milliseconds: Math.round(clock.monotonic() - began) }
}

const isOver = ({ status, at }: Delivery, failingSince = at): boolean =>
  status === 410 || at - failingSince >= longestFailure

/** V-11. A webhook that was changed meanwhile stays enabled. */
const disable = async ({ webhooks }: DeliveryDeps, { site, id, targetUrl }: Webhook, delivery: Delivery) => {
  await webhooks.change(
    site,
    id,
    (present) =>
      present.enabled && present.targetUrl === targetUrl && isOver(delivery, present.failingSince)
        ? { ...present, enabled: false }
        : undefined,
    webhookEntry('webhook.disabled', { site, id, targetUrl }, { actor: 'system' }),
  )
}

export const changeAt = async ({ history }: DeliveryDeps, site: SiteId, position: number) => {
  const [change] = await history.after(site, position - 1, 1)
  return change?.position === position ? change : undefined
}

export const attemptDelivery = async (
  deps: DeliveryDeps,
  webhook: Webhook,
  change: Change,
  source: string,
  attempt = 1,
): Promise<Delivery> => {
  const { position, type } = change
  const { at, ...answer } = await postEvent(deps, webhook, viewOfChange(change), source)
  const id = `dlv_${String(at).padStart(14, '0')}-${String(position).padStart(16, '0')}-${attempt}`
  return { id, position, type, at, attempt, ...answer }
}

export const recordDelivery = async (
  deps: DeliveryDeps,
  webhook: Webhook,
  delivery: Delivery,
  others: Omit<Outcome, 'delivery'> = {},
): Promise<void> => {
  await deps.deliveries.record(webhook.site, webhook.id, { delivery, ...others })
  if (!isSuccess(delivery) && isOver(delivery, webhook.failingSince)) await disable(deps, webhook, delivery)
}
