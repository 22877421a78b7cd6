import type { Answer } from '../../lib/contract/contract.ts'
import type { delivery as deliveryAnswer, deliveryList } from '../../lib/contract/webhooks/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { createTurns } from '../../lib/core/turns.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import { viewOfDelivery } from '../../lib/webhooks/change-webhook.ts'
import { repeatDelivery as repeat, sendTest } from '../../lib/webhooks/send-now.ts'
import type { Delivery, TestDelivery } from '../../lib/webhooks/webhooks.ts'
import { findWebhook, idOf } from './webhooks.ts'

/** V-13. Errors: webhookUnknown. */
export const listDeliveries = operation({ params: idOf }, async ({ site, params: { id } }, deps: WebhooksDeps) => {
  await findWebhook(deps, site.id, id)
  return ok<Answer<typeof deliveryList>>({
    items: (await deps.deliveries.recent(site.id, id)).map(viewOfDelivery),
  })
})

const tooMany = () =>
  new ServiceError('tooManyRequests', {
    message:
      'The service is already sending several tests or repeated deliveries. Repeat your request after the time in the Retry-After header.',
    headers: { 'Retry-After': '5' },
  })

const toReply = (sent: Delivery | TestDelivery): Reply => ok<Answer<typeof deliveryAnswer>>(viewOfDelivery(sent))

/** V-12, V-13. Errors: webhookUnknown, deliveryUnknown, tooManyRequests. */
export const createSending = () => {
  // V-13: limits the requests that wait for slow targets.
  const inTurn = createTurns({ atOnce: 4, mostWaiting: 0, refuse: tooMany })
  return {
    testWebhook: operation({ params: idOf }, async ({ site, params: { id } }, deps: WebhooksDeps) => {
      const webhook = await findWebhook(deps, site.id, id)
      return toReply(await inTurn(() => sendTest(deps, webhook)))
    }),
    repeatDelivery: operation(
      { params: ({ delivery = '', ...webhook }) => ({ ...idOf(webhook), delivery }) },
      async ({ site, params: { id, delivery } }, deps: WebhooksDeps) => {
        const webhook = await findWebhook(deps, site.id, id)
        return toReply(await inTurn(() => repeat(deps, webhook, delivery)))
      },
    ),
  }
}
