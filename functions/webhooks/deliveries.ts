import type { Answer } from '../../lib/contract/contract.ts'
import type { delivery as deliveryAnswer, deliveryList } from '../../lib/contract/webhooks/contract.ts'
import { tooManyRequests } from '../../lib/core/errors.ts'
import { createTurns } from '../../lib/core/in-parallel.ts'
import type { Segments } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { viewOfDelivery } from '../../lib/webhooks/change-webhook.ts'
import { repeatDelivery as repeat, sendTest } from '../../lib/webhooks/send-now.ts'
import type { Delivery, TestDelivery } from '../../lib/webhooks/webhooks.ts'
import { findWebhook, idOf, operation } from './webhooks.ts'

/** V-13. Errors: webhookUnknown. */
export const listDeliveries = operation({ params: idOf }, async ({ site, params: { id } }, deps) => {
  await findWebhook(deps, site.id, id)
  return ok<Answer<typeof deliveryList>>({
    items: (await deps.deliveries.recent(site.id, id)).map(viewOfDelivery),
  })
})

const tooMany = () => tooManyRequests('The service is already sending several tests or repeated deliveries.', 5)

const toReply = (sent: Delivery | TestDelivery): Reply => ok<Answer<typeof deliveryAnswer>>(viewOfDelivery(sent))

// V-13: limits the requests that wait for slow targets.
const inTurn = createTurns({ atOnce: 4, mostWaiting: 0, refuse: tooMany })

/** V-12. Errors: webhookUnknown, tooManyRequests. */
export const testWebhook = operation({ params: idOf }, async ({ site, params: { id } }, deps) => {
  const webhook = await findWebhook(deps, site.id, id)
  return toReply(await inTurn(() => sendTest(deps, webhook)))
})

const deliveryOf = ({ delivery = '', ...webhook }: Segments) => ({ ...idOf(webhook), delivery })

/** V-13. Errors: webhookUnknown, deliveryUnknown, tooManyRequests. */
export const repeatDelivery = operation({ params: deliveryOf }, async ({ site, params }, deps) => {
  const webhook = await findWebhook(deps, site.id, params.id)
  return toReply(await inTurn(() => repeat(deps, webhook, params.delivery)))
})
