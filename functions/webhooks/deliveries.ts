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
export const listDeliveries = (deps: WebhooksDeps) =>
  operation({ params: idOf }, async ({ site, params: { id } }) => {
    await findWebhook(deps, site.id, id)
    const items = (await deps.deliveries.recent(site.id, id)).map(viewOfDelivery)
    return ok<Answer<typeof deliveryList>>({ value: { items } })
  })

const tooMany = () =>
  new ServiceError('tooManyRequests', {
    message:
      'The service is already sending several tests or repeated deliveries. Repeat your request after the time in the Retry-After header.',
    headers: { 'Retry-After': '5' },
  })

const toReply = (sent: Delivery | TestDelivery): Reply =>
  ok<Answer<typeof deliveryAnswer>>({ value: viewOfDelivery(sent) })

/** V-12, V-13. Errors: webhookUnknown, deliveryUnknown, tooManyRequests. */
export const createSending = (deps: WebhooksDeps) => {
  // V-13: limits the requests that wait for slow targets.
  const inTurn = createTurns({ atOnce: 4, mostWaiting: 0, refuse: tooMany })
  return {
    testWebhook: operation({ params: idOf }, async ({ site, params: { id } }) => {
      const webhook = await findWebhook(deps, site.id, id)
      return toReply(await inTurn(() => sendTest(deps, webhook)))
    }),
    repeatDelivery: operation(
      { params: ({ delivery = '', ...webhook }) => ({ ...idOf(webhook), delivery }) },
      async ({ site, params: { id, delivery } }) => {
        const webhook = await findWebhook(deps, site.id, id)
        return toReply(await inTurn(() => repeat(deps, webhook, delivery)))
      },
    ),
  }
}
