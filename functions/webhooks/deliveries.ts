import type { Answer } from '../../lib/contract/contract.ts'
import type { delivery as deliveryAnswer, deliveryList } from '../../lib/contract/webhooks/contract.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import type { Delivery } from '../../lib/webhooks/webhooks.ts'
import { findWebhook, idOf } from './webhooks.ts'

const viewOf = ({ id, at, type, status, fault, milliseconds, attempt }: Delivery): Answer<typeof deliveryAnswer> => ({
  id,
  time: new Date(at).toISOString(),
  type,
  status: status ?? null,
  ...(fault !== undefined && { fault }),
  milliseconds,
  attempt,
})

/** V-13. Errors: webhookUnknown. */
export const listDeliveries = (deps: WebhooksDeps) =>
  operation({ params: idOf }, async ({ site, params: { id } }) => {
    await findWebhook(deps, site.id, id)
    const value: Answer<typeof deliveryList> = { items: (await deps.deliveries.recent(site.id, id)).map(viewOf) }
    return ok({ value })
  })
