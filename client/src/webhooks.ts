import type { Connection } from './connection.ts'
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  repeatDelivery,
  testWebhook,
} from './generated/operations.gen.ts'
import type {
  ChangedWebhook,
  CreatedWebhook,
  Delivery,
  Webhook,
  WebhookChange,
  WebhookCreation,
} from './generated/types.gen.ts'

export interface Webhooks {
  list(): AsyncIterable<Webhook>
  get(id: string): Promise<Webhook>
  /** Only this answer contains the secret. */
  create(webhook: WebhookCreation): Promise<CreatedWebhook>
  /** With `rotate`, the answer contains a new secret. */
  change(id: string, change: WebhookChange): Promise<ChangedWebhook>
  remove(id: string): Promise<void>
  test(id: string): Promise<Delivery>
  /** Lists the last 100 deliveries, the newest first. */
  deliveries(id: string): AsyncIterable<Delivery>
  repeat(id: string, delivery: string): Promise<Delivery>
}

export const createWebhooks = ({ site: { id: site }, call }: Connection): Webhooks => ({
  async *list() {
    yield* (await listWebhooks(call, { path: { site } })).data.items
  },
  get: async (webhook) => (await getWebhook(call, { path: { site, webhook } })).data,
  create: async (body) => (await createWebhook(call, { path: { site }, body })).data,
  change: async (webhook, body) => (await changeWebhook(call, { path: { site, webhook }, body })).data,
  remove: async (webhook) => void (await removeWebhook(call, { path: { site, webhook } })),
  test: async (webhook) => (await testWebhook(call, { path: { site, webhook } })).data,
  async *deliveries(webhook) {
    yield* (await listDeliveries(call, { path: { site, webhook } })).data.items
  },
  repeat: async (webhook, delivery) => (await repeatDelivery(call, { path: { site, webhook, delivery } })).data,
})
