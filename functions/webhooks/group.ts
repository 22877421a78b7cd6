import type { OperationOf } from '../../lib/contract/routes/routes.ts'
import { webhooksRoutes } from '../../lib/contract/routes/webhooks.ts'
import type { AnyOperation } from '../../lib/http/admission.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import { createSending, listDeliveries } from './deliveries.ts'
import { changeWebhook, createWebhook, getWebhook, listWebhooks, removeWebhook } from './webhooks.ts'

export const createWebhooksHandler = (deps: WebhooksDeps): Handler => {
  const operations: Record<OperationOf<'webhooks'>, AnyOperation> = {
    listWebhooks: listWebhooks(deps),
    createWebhook: createWebhook(deps),
    getWebhook: getWebhook(deps),
    changeWebhook: changeWebhook(deps),
    removeWebhook: removeWebhook(deps),
    listDeliveries: listDeliveries(deps),
    ...createSending(deps),
  }
  return createHandler('webhooks', webhooksRoutes, operations, deps.edge)
}
