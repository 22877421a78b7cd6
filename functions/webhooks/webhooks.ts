import type { Answer } from '../../lib/contract/contract.ts'
import type {
  changedWebhook,
  createdWebhook,
  webhook as webhookAnswer,
  webhookList,
} from '../../lib/contract/webhooks/contract.ts'
import { invalidInput, ServiceError } from '../../lib/core/errors.ts'
import { changeTypes, isWantedType } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { type Right, requireRight, rightOf } from '../../lib/core/rights.ts'
import { areasOf } from '../../lib/history/list-changes.ts'
import { bodyOf, noParams, operation } from '../../lib/http/operation.ts'
import { done, ok } from '../../lib/http/reply.ts'
import type { WebhooksDeps } from '../../lib/service/deps.ts'
import { changeOf, newSecret, newWebhook, webhookEntry } from '../../lib/webhooks/change-webhook.ts'
import type { Webhook, WebhookChange } from '../../lib/webhooks/webhooks.ts'

const bodies = {
  schemas: () => import('../../lib/contract/webhooks/bodies.ts'),
  malformed: 'webhookMalformed' as const,
}

export const idOf = ({ webhook = '' }: Readonly<Record<string, string>>) => ({ id: webhook })

const timeOf = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString())

const viewOf = (webhook: Webhook): Answer<typeof webhookAnswer> => {
  const { id, site: siteId, targetUrl, types, subject, enabled, description, lastSuccess, failingSince } = webhook
  const times = { lastSuccess: timeOf(lastSuccess), failingSince: timeOf(failingSince) }
  return { id, siteId, targetUrl, types, subject, enabled, description, ...times }
}

export const findWebhook = async ({ webhooks }: WebhooksDeps, site: SiteId, id: string): Promise<Webhook> => {
  const found = await webhooks.get(site, id)
  if (!found) throw new ServiceError('webhookUnknown')
  return found
}

/** V-1: nobody sends entries to others that nobody may read. Errors: rightMissing. */
const requireRights = (held: readonly Right[], patterns: readonly string[]): void => {
  const types = changeTypes.filter((type) => isWantedType(patterns, type))
  for (const area of ['history', ...areasOf(types)] as const)
    requireRight(held, rightOf(`${area}:read`), 'rightMissing')
}

/** V-3. Errors: webhookMalformed. */
const requireHttps = ({ permitsPrivate }: WebhooksDeps, targetUrl: string): void => {
  const { protocol, hostname } = new URL(targetUrl)
  if (protocol === 'https:' || (permitsPrivate && hostname === '127.0.0.1')) return
  throw invalidInput('webhookMalformed', [{ path: 'targetUrl', message: 'must be an https address' }])
}

const neverStored = { 'Cache-Control': 'no-store' }

const endOf = async ({ history }: WebhooksDeps, site: SiteId): Promise<number> =>
  (await history.before(site, undefined, 1))[0]?.position ?? 0

export const listWebhooks = ({ webhooks }: WebhooksDeps) =>
  operation({ params: noParams }, async ({ site }) => {
    const value: Answer<typeof webhookList> = { items: (await webhooks.listOfSite(site.id)).map(viewOf) }
    return ok({ value })
  })

/** V-1, V-2, V-4. Errors: webhookMalformed, rightMissing, tooManyWebhooks. */
export const createWebhook = (deps: WebhooksDeps) =>
  operation({ params: noParams, body: bodyOf(bodies, 'newWebhookBody') }, async ({ site, caller, body, author }) => {
    requireHttps(deps, body.targetUrl)
    requireRights(caller.rights, body.types ?? [])
    const { webhook, secret } = await newWebhook(deps.seals, site.id, body, await endOf(deps, site.id))
    if (!(await deps.webhooks.create(webhook, webhookEntry('webhook.created', webhook, author)))) {
      throw new ServiceError('tooManyWebhooks')
    }
    const value: Answer<typeof createdWebhook> = { ...viewOf(webhook), secret }
    return { status: 201, document: { value }, headers: neverStored }
  })

/** V-1. 404/230001 for a webhook that the site does not have. */
export const getWebhook = (deps: WebhooksDeps) =>
  operation({ params: idOf }, async ({ site, params }) =>
    ok({ value: viewOf(await findWebhook(deps, site.id, params.id)) }),
  )

/** V-1, V-2, V-5. Errors: webhookMalformed, rightMissing, webhookUnknown. */
export const changeWebhook = (deps: WebhooksDeps) =>
  operation(
    { params: idOf, body: bodyOf(bodies, 'webhookChangeBody') },
    async ({ site, caller, params: { id }, body: { rotate, ...settings }, author }) => {
      if (settings.targetUrl !== undefined) requireHttps(deps, settings.targetUrl)
      const { targetUrl } = await findWebhook(deps, site.id, id)
      const end = settings.enabled ? await endOf(deps, site.id) : 0
      const secret = rotate && newSecret()
      const sealed = secret && (await deps.seals.seal({ site: site.id, id }, secret))
      const named = { site: site.id, id, targetUrl: settings.targetUrl ?? targetUrl }
      const change = changeOf({ settings, sealed, end, now: deps.clock.wall() })
      const permitted = (present: Webhook): WebhookChange => {
        requireRights(caller.rights, settings.types ?? present.types)
        return change(present)
      }
      const entry = webhookEntry('webhook.changed', named, author)
      const webhook = await deps.webhooks.change(site.id, id, permitted, entry)
      if (!webhook) throw new ServiceError('webhookUnknown')
      const value: Answer<typeof changedWebhook> = { ...viewOf(webhook), ...(secret && { secret }) }
      return { ...ok({ value }), headers: neverStored }
    },
  )

/** V-1. Errors: webhookUnknown. */
export const removeWebhook = (deps: WebhooksDeps) =>
  operation({ params: idOf }, async ({ site, params: { id }, author }) => {
    const present = await findWebhook(deps, site.id, id)
    if (!(await deps.webhooks.remove(site.id, id, webhookEntry('webhook.removed', present, author)))) {
      throw new ServiceError('webhookUnknown')
    }
    return done
  })
