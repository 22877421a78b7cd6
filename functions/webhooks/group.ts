import type { Answer } from '../../lib/contract/contract.ts'
import { webhooksRoutes } from '../../lib/contract/routes/webhooks.ts'
import type * as contract from '../../lib/contract/webhooks/contract.ts'
import { invalidInput, tooManyRequests } from '../../lib/core/errors.ts'
import { changeTypes, isWantedType } from '../../lib/core/history-entry.ts'
import { createTurns } from '../../lib/core/in-parallel.ts'
import { type Right, requireRight, rightOf } from '../../lib/core/rights.ts'
import { areasOf } from '../../lib/history/history.ts'
import { createHandler } from '../../lib/http/handler.ts'
import { bodiesOf, operationsOn, type Segments } from '../../lib/http/operation.ts'
import { done, ok, secret } from '../../lib/http/reply.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import { repeatDelivery as repeat, sendTest } from '../../lib/webhooks/deliver.ts'
import {
  changeWebhook as change,
  createWebhook as create,
  findWebhook,
  isPermitted,
  removeWebhook as remove,
  viewOfDelivery,
  viewOfWebhook,
  type Webhook,
} from '../../lib/webhooks/webhooks.ts'

const operation = operationsOn<WebhooksDeps>()

const schemas = () => import('../../lib/contract/webhooks/bodies.ts')
const bodyOf = bodiesOf({ schemas, malformed: 'webhookMalformed' })

const params = ({ webhook = '', delivery = '' }: Segments) => ({ id: webhook, delivery })

/** V-1: the maker of a webhook must not get entries that the maker may not read. Errors: rightMissing. */
const requireRights = (held: readonly Right[], patterns: readonly string[]): void => {
  const types = changeTypes.filter((type) => isWantedType(patterns, type))
  for (const area of ['history', ...areasOf(types)] as const)
    requireRight(held, rightOf(`${area}:read`), 'rightMissing')
}

/** V-3. Errors: webhookMalformed. */
const requirePermitted = ({ target }: WebhooksDeps, targetUrl: string | undefined): void => {
  if (targetUrl === undefined || isPermitted(targetUrl, target.permitsPrivate)) return
  throw invalidInput('webhookMalformed', [{ path: 'targetUrl', message: 'must be an https address' }])
}

const listWebhooks = operation({}, async ({ site }, { webhooks }) =>
  ok<Answer<typeof contract.webhookList>>({ items: (await webhooks.listOfSite(site.id)).map(viewOfWebhook) }),
)

/** V-1, V-2, V-4. Errors: webhookMalformed, rightMissing, tooManyWebhooks. */
const createWebhook = operation({ body: bodyOf('webhookCreationBody') }, async (input, deps) => {
  const { site, caller, body, author } = input
  requirePermitted(deps, body.targetUrl)
  requireRights(caller.rights, body.types ?? [])
  return secret<Answer<typeof contract.createdWebhook>>(await create(deps, site.id, body, author), 201)
})

const getWebhook = operation({ params }, async ({ site, params }, deps) =>
  ok<Answer<typeof contract.webhook>>(viewOfWebhook(await findWebhook(deps, site.id, params.id))),
)

/** V-1, V-2, V-5. Errors: webhookMalformed, rightMissing, webhookUnknown. */
const changeWebhook = operation({ params, body: bodyOf('webhookChangeBody') }, async (input, deps) => {
  const { site, caller, params, body, author } = input
  requirePermitted(deps, body.targetUrl)
  const check = ({ types }: Webhook) => requireRights(caller.rights, body.types ?? types)
  const present = await findWebhook(deps, site.id, params.id)
  const changed = await change(deps, present, body, { author, now: deps.clock.wall(), check })
  return secret<Answer<typeof contract.changedWebhook>>(changed)
})

/** V-1, V-32. Errors: webhookUnknown. */
const removeWebhook = operation({ params }, async ({ site, params, author }, deps) => {
  await remove(deps, await findWebhook(deps, site.id, params.id), author)
  return done
})

const listDeliveries = operation({ params }, async ({ site, params: { id } }, deps) => {
  await findWebhook(deps, site.id, id)
  return ok<Answer<typeof contract.deliveryList>>({
    items: (await deps.webhooks.deliveries(site.id, id)).map(viewOfDelivery),
  })
})

const tooMany = () => tooManyRequests('The service is already sending several tests or repeated deliveries.', 5)

// V-13: limits the requests that wait for slow targets.
const inTurn = createTurns({ atOnce: 4, mostWaiting: 0, refuse: tooMany })

/** V-12. Errors: webhookUnknown, tooManyRequests. */
const testWebhook = operation({ params }, async ({ site, params: { id } }, deps) => {
  const webhook = await findWebhook(deps, site.id, id)
  return ok<Answer<typeof contract.delivery>>(await inTurn(() => sendTest(deps, webhook)))
})

/** V-13. Errors: webhookUnknown, deliveryUnknown, tooManyRequests. */
const repeatDelivery = operation({ params }, async ({ site, params }, deps) => {
  const webhook = await findWebhook(deps, site.id, params.id)
  return ok<Answer<typeof contract.delivery>>(await inTurn(() => repeat(deps, webhook, params.delivery)))
})

const operations = {
  listWebhooks,
  createWebhook,
  getWebhook,
  changeWebhook,
  removeWebhook,
  testWebhook,
  listDeliveries,
  repeatDelivery,
}

export const createWebhooksHandler = (deps: WebhooksDeps): Handler =>
  createHandler('webhooks', webhooksRoutes, operations, deps)
