import { webhooksRoutes } from '../../lib/contract/routes/webhooks.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import * as webhooks from './webhooks.ts'

export const createWebhooksHandler = (deps: WebhooksDeps): Handler =>
  createHandler('webhooks', webhooksRoutes, webhooks, deps)
