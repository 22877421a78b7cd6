import type { Answer } from '../../lib/contract/contract.ts'
import type { deliveryList } from '../../lib/contract/webhooks/contract.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import { viewOfDelivery } from '../../lib/webhooks/change-webhook.ts'
import { findWebhook, idOf } from './webhooks.ts'

/** V-13. Errors: webhookUnknown. */
export const listDeliveries = (deps: WebhooksDeps) =>
  operation({ params: idOf }, async ({ site, params: { id } }) => {
    await findWebhook(deps, site.id, id)
    const value: Answer<typeof deliveryList> = {
      items: (await deps.deliveries.recent(site.id, id)).map(viewOfDelivery),
    }
    return ok({ value })
  })
