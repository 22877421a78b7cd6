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
} from './generated/sdk.gen.ts'
import type {
  ChangedWebhook,
  CreatedWebhook,
  Delivery,
  NewWebhook,
  Webhook,
  WebhookChange,
} from './generated/types.gen.ts'

export interface Webhooks {
  list(): AsyncIterable<Webhook>
  get(id: string): Promise<Webhook>
  /** No other answer shows the secret. */
  create(webhook: NewWebhook): Promise<CreatedWebhook>
  /** With `rotate`, the answer has a new secret. */
  change(id: string, change: WebhookChange): Promise<ChangedWebhook>
  remove(id: string): Promise<void>
  test(id: string): Promise<Delivery>
  /** The last 100, the newest first. */
  deliveries(id: string): AsyncIterable<Delivery>
  repeat(id: string, delivery: string): Promise<Delivery>
}

export const createWebhooks = ({ site, calls: client }: Connection): Webhooks => {
  const common = { client, throwOnError: true } as const
  const here = { ...common, path: { site: site.id } }
  const of = (webhook: string) => ({ ...common, path: { site: site.id, webhook } })
  return {
    async *list() {
      yield* (await listWebhooks(here)).data.items
    },
    get: async (id) => (await getWebhook(of(id))).data,
    create: async (body) => (await createWebhook({ ...here, body })).data,
    change: async (id, body) => (await changeWebhook({ ...of(id), body })).data,
    remove: async (id) => void (await removeWebhook(of(id))),
    test: async (id) => (await testWebhook(of(id))).data,
    async *deliveries(id) {
      yield* (await listDeliveries(of(id))).data.items
    },
    repeat: async (webhook, delivery) =>
      (await repeatDelivery({ ...common, path: { site: site.id, webhook, delivery } })).data,
  }
}
