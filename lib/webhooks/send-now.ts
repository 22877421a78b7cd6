import { randomUUID } from 'node:crypto'
import { ServiceError } from '../core/errors.ts'
import type { Change } from '../core/history-entry.ts'
import { attemptDelivery, changeAt, type DeliveryDeps, postEvent, recordDelivery } from './attempt-delivery.ts'
import { isWanted, mostAtOnce } from './deliver-next.ts'
import { type Delivery, isSuccess, type Outcome, type TestDelivery, type Webhook } from './webhooks.ts'

const findSource = async (deps: DeliveryDeps, { site }: Webhook): Promise<string> => {
  const source = await deps.findSource(site)
  if (source === undefined) throw new ServiceError('webhookUnknown')
  return source
}

/** V-12. Errors: webhookUnknown, unavailable. */
export const sendTest = async (deps: DeliveryDeps, webhook: Webhook): Promise<TestDelivery> => {
  const id = `test-${randomUUID()}`
  const at = new Date(deps.clock.wall()).toISOString()
  const view = { id, at, type: 'webhook.test', subject: `webhook/${webhook.id}` } as const
  const sent = await postEvent(deps, webhook, view, await findSource(deps, webhook))
  return { id, type: view.type, attempt: 1, ...sent }
}

// While entries wait (V-10), the first of them has no retry and is after the position of the webhook.
const endedBy = async ({ history }: DeliveryDeps, webhook: Webhook, { position }: Change): Promise<Outcome> => {
  if (position <= webhook.position) return { ended: position }
  const waiting = await history.after(webhook.site, webhook.position, mostAtOnce)
  const next = waiting.find((entry) => isWanted(webhook, entry))
  return { ended: position, ...(next?.position === position && { position }) }
}

/** V-13. A success ends the retry of the entry. Errors: deliveryUnknown, webhookUnknown, unavailable. */
export const repeatDelivery = async (deps: DeliveryDeps, webhook: Webhook, id: string): Promise<Delivery> => {
  const { site } = webhook
  const before = (await deps.deliveries.recent(site, webhook.id)).find((delivery) => delivery.id === id)
  const entry = before && (await changeAt(deps, site, before.position))
  if (!entry || !isWanted(webhook, entry)) throw new ServiceError('deliveryUnknown')
  const source = await findSource(deps, webhook)
  const delivery = await attemptDelivery(deps, webhook, entry, source, before.attempt + 1)
  await recordDelivery(deps, webhook, delivery, isSuccess(delivery) ? await endedBy(deps, webhook, entry) : {})
  return delivery
}
