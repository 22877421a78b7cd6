import * as z from 'zod/mini'
import { component, created, described, type GroupContract, named, ok, text } from '../contract.ts'
import { webhookChangeBody, webhookCreationBody } from './bodies.ts'

const members = {
  id: z.string(),
  siteId: z.int(),
  targetUrl: z.string(),
  types: described(
    z.array(z.string()),
    'The types of changes to report, such as `file.stored` or `file.*`. An empty list reports all types.',
  ),
  subject: described(
    z.string(),
    'Only changes whose subject begins with this text are reported, such as `news/` for a folder. If empty, changes ' +
      'of all subjects are reported.',
  ),
  enabled: z.boolean(),
  description: z.string(),
  lastSuccess: described(z.nullable(z.iso.datetime()), 'The time of the last successful delivery, or null.'),
  failingSince: described(
    z.nullable(z.iso.datetime()),
    'When this target first failed after its last success, or null. After 5 days, the webhook is disabled.',
  ),
}

const secret = described(z.string(), 'The secret that signs the deliveries. No other answer contains the secret.')

export const webhook = component('Webhook', 'An address that gets the changes of a site.', members)

export const webhookList = component('WebhookList', 'All webhooks of the site, sorted by id.', {
  items: z.array(webhook),
})

export const createdWebhook = component('CreatedWebhook', 'A new webhook.', { ...members, secret })

export const changedWebhook = component('ChangedWebhook', 'The webhook, with a new secret after `rotate`.', {
  ...members,
  secret: z.optional(secret),
})

export const delivery = component('Delivery', 'One attempt to deliver a change.', {
  id: z.string(),
  time: z.iso.datetime(),
  type: described(z.string(), 'The type of the change, or `webhook.test`.'),
  status: described(z.nullable(z.int()), 'The status of the answer, or null if no answer came.'),
  fault: described(z.optional(z.string()), 'The reason why no answer came.'),
  milliseconds: described(z.int(), 'The time in milliseconds until the answer or the fault.'),
  attempt: described(z.int(), 'The number of the attempt, from 1.'),
})

export const deliveryList = component('DeliveryList', 'The last 100 deliveries of a webhook, the newest first.', {
  items: z.array(delivery),
})

const ofWebhook = ['webhookUnknown'] as const
const stored = ['webhookMalformed', 'rightMissing'] as const

const reported =
  'The token also needs `history:read`, and the right to read each area whose changes the webhook reports: `files:read`, ' +
  '`forms:read`, `categories:read` or `access:read`.'

export const webhooksContract: GroupContract<'webhooks'> = {
  tag: {
    name: 'Webhooks',
    description:
      'Deliveries of changes to other services. Each delivery is a CloudEvent, and is signed according to Standard ' +
      'Webhooks. On AWS, webhooks are an option of the deployment.',
  },
  parameters: {
    webhook: text('The id of the webhook.', 'whk_d2f1d2f1d2f1d2f1'),
    delivery: text('The id of the delivery.', 'dlv_01769860800000-1769860799000000-1'),
  },
  operations: {
    listWebhooks: { summary: 'List the webhooks of a site', answers: ok('The webhooks.', webhookList) },
    createWebhook: {
      summary: 'Create a webhook',
      description: `The webhook reports all later changes. A site can have 20 webhooks. ${reported}`,
      body: { schema: named(webhookCreationBody, 'WebhookCreation') },
      answers: created('The webhook, with its secret. No other answer shows the secret.', createdWebhook, {
        headers: ['Cache-Control'],
      }),
      errors: [...stored, 'tooManyWebhooks'],
      examples: [
        { body: { targetUrl: 'https://example.com/hooks', types: ['file.*', 'folder.*'], subject: 'news/' } },
        { body: { targetUrl: 'example.com' } },
      ],
    },
    getWebhook: { summary: 'Read a webhook', answers: ok('The webhook.', webhook), errors: ofWebhook },
    changeWebhook: {
      summary: 'Change a webhook',
      description:
        'Changes only the given members. `rotate` adds a secret; for 24 hours, deliveries are also signed with the ' +
        'previous one. A webhook that is enabled again reports later changes, but no changes from the time when it ' +
        `was disabled. ${reported}`,
      body: { schema: named(webhookChangeBody, 'WebhookChange') },
      answers: ok('The webhook is changed.', changedWebhook, { headers: ['Cache-Control'] }),
      errors: [...stored, ...ofWebhook],
      examples: [{ body: { rotate: true } }, { body: {} }],
    },
    removeWebhook: {
      summary: 'Remove a webhook',
      answers: { 200: { description: 'The webhook is removed.' } },
      errors: ofWebhook,
    },
    testWebhook: {
      summary: 'Send a test to the target of a webhook',
      description:
        'Sends an event of the type `site-admin.webhook.test` and waits up to 15 seconds for the answer. Also works ' +
        'while the webhook is disabled.',
      answers: ok('The outcome of the test, even if the target refuses the test.', delivery),
      errors: [...ofWebhook, 'tooManyRequests'],
    },
    listDeliveries: {
      summary: 'List the deliveries of a webhook',
      answers: ok('The deliveries.', deliveryList),
      errors: ofWebhook,
    },
    repeatDelivery: {
      summary: 'Repeat a delivery',
      description:
        'Sends the same change again and waits up to 15 seconds for the answer. After a success, the service cancels further attempts.',
      answers: ok('The outcome of the delivery, even if the target refuses it.', delivery),
      errors: [...ofWebhook, 'deliveryUnknown', 'tooManyRequests'],
    },
  },
}
