import type { Answer } from '../../lib/contract/contract.ts'
import { webhooksRoutes } from '../../lib/contract/routes/webhooks.ts'
import type * as contract from '../../lib/contract/webhooks/contract.ts'
import { invalidInput, ServiceError, tooManyRequests } from '../../lib/core/errors.ts'
import { changeTypes, isWantedType } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { createTurns } from '../../lib/core/in-parallel.ts'
import { type Right, requireRight, rightOf } from '../../lib/core/rights.ts'
import { areasOf } from '../../lib/history/history.ts'
import { createHandler } from '../../lib/http/handler.ts'
import { bodiesOf, operationsOn, type Segments } from '../../lib/http/operation.ts'
import { done, ok, type Reply, secret } from '../../lib/http/reply.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import { repeatDelivery as repeat, sendTest } from '../../lib/webhooks/deliver.ts'
import type { Delivery, TestDelivery, Webhook } from '../../lib/webhooks/webhooks.ts'
import {
  changeWebhook as change,
  createWebhook as create,
  isPermitted,
  isWebhookId,
  removeWebhook as remove,
  viewOfDelivery,
  viewOfWebhook,
} from '../../lib/webhooks/webhooks.ts'

const operation = operationsOn<WebhooksDeps>()

const schemas = () => import('../../lib/contract/webhooks/bodies.ts')
const bodyOf = bodiesOf({ schemas, malformed: 'webhookMalformed' })

const idOf = ({ webhook = '' }: Segments) => ({ id: webhook })

const findWebhook = async ({ webhooks }: WebhooksDeps, site: SiteId, id: string): Promise<Webhook> => {
  const found = isWebhookId(id) ? await webhooks.get(site, id) : undefined
  if (!found) throw new ServiceError('webhookUnknown')
  return found
}

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
  const made = await create(deps, site.id, body, author)
  if (!made) throw new ServiceError('tooManyWebhooks')
  const { webhook, secret: shown } = made
  return secret<Answer<typeof contract.createdWebhook>>({ ...viewOfWebhook(webhook), secret: shown }, 201)
})

const getWebhook = operation({ params: idOf }, async ({ site, params }, deps) =>
  ok<Answer<typeof contract.webhook>>(viewOfWebhook(await findWebhook(deps, site.id, params.id))),
)

/** V-1, V-2, V-5. Errors: webhookMalformed, rightMissing, webhookUnknown. */
const changeWebhook = operation({ params: idOf, body: bodyOf('webhookChangeBody') }, async (input, deps) => {
  const { site, caller, params, body, author } = input
  requirePermitted(deps, body.targetUrl)
  const check = ({ types }: Webhook) => requireRights(caller.rights, body.types ?? types)
  const present = await findWebhook(deps, site.id, params.id)
  const changed = await change(deps, present, body, { author, now: deps.clock.wall(), check })
  if (!changed) throw new ServiceError('webhookUnknown')
  const { webhook, ...shown } = changed
  return secret<Answer<typeof contract.changedWebhook>>({ ...viewOfWebhook(webhook), ...shown })
})

/** V-1, V-32. Errors: webhookUnknown. */
const removeWebhook = operation({ params: idOf }, async ({ site, params, author }, deps) => {
  const present = await findWebhook(deps, site.id, params.id)
  if (!(await remove(deps, present, author))) throw new ServiceError('webhookUnknown')
  return done
})

/** V-13. Errors: webhookUnknown. */
const listDeliveries = operation({ params: idOf }, async ({ site, params: { id } }, deps) => {
  await findWebhook(deps, site.id, id)
  return ok<Answer<typeof contract.deliveryList>>({
    items: (await deps.deliveries.recent(site.id, id)).map(viewOfDelivery),
  })
})

const tooMany = () => tooManyRequests('The service is already sending several tests or repeated deliveries.', 5)

const toReply = (sent: Delivery | TestDelivery): Reply => ok<Answer<typeof contract.delivery>>(viewOfDelivery(sent))

// V-13: limits the requests that wait for slow targets.
const inTurn = createTurns({ atOnce: 4, mostWaiting: 0, refuse: tooMany })

/** V-12. Errors: webhookUnknown, tooManyRequests. */
const testWebhook = operation({ params: idOf }, async ({ site, params: { id } }, deps) => {
  const webhook = await findWebhook(deps, site.id, id)
  return toReply(await inTurn(() => sendTest(deps, webhook)))
})

const deliveryOf = ({ delivery = '', ...webhook }: Segments) => ({ ...idOf(webhook), delivery })

/** V-13. Errors: webhookUnknown, deliveryUnknown, tooManyRequests. */
const repeatDelivery = operation({ params: deliveryOf }, async ({ site, params }, deps) => {
  const webhook = await findWebhook(deps, site.id, params.id)
  return toReply(await inTurn(() => repeat(deps, webhook, params.delivery)))
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
