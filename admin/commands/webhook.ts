import { type Command, InvalidArgumentError, Option } from 'commander'
import { typePatterns } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import {
  changeWebhook,
  createWebhook,
  isOneLine,
  isPermitted,
  isTarget,
  longest,
  removeWebhook,
  viewOfDelivery,
  viewOfWebhook,
} from '../../lib/webhooks/change-webhook.ts'
import { mostWebhooks } from '../../lib/webhooks/webhooks.ts'
import type { AdminStores, AreaStores, WebhookStores } from '../stores/admin-stores.ts'
import { administrator } from '../stores/changes.ts'
import { printOnce } from '../stores/find-grant.ts'
import { areaOf, type GlobalOptions, onStores } from '../stores/stores.ts'
import { commandOf, groupOf, type OfSite, siteOption } from '../terminal/arguments.ts'
import { outputLost, Refusal, textOf, tryToPrint } from '../terminal/output.ts'

interface Settings extends OfSite {
  readonly url?: string
  readonly type?: readonly string[]
  readonly subject?: string
  readonly description?: string
  readonly enabled?: boolean
  readonly rotate?: true
  readonly allowPrivateWebhooks?: true
}

const hooksOf = async (stores: AdminStores, site: SiteId): Promise<AreaStores & WebhookStores> => {
  const area = await areaOf(stores, site)
  const { webhooks, deliveries, seals } = area
  if (webhooks && deliveries && seals) return { ...area, webhooks, deliveries, seals }
  throw new Refusal('This deployment has no webhooks. Set "webhooks" to true in cdk.json and deploy, to use them.')
}

const unknown = (site: SiteId): Refusal =>
  new Refusal(`Site ${site} has no such webhook. "webhook list --site ${site}" lists its webhooks.`)

const find = async (stores: AdminStores, site: SiteId, id: string) => {
  const area = await hooksOf(stores, site)
  const webhook = await area.webhooks.get(site, id)
  if (!webhook) throw unknown(site)
  return { area, webhook }
}

const checkedSettings = ({ url, type, subject, description, enabled, allowPrivateWebhooks = false }: Settings) => {
  if (url !== undefined && !isPermitted(url, allowPrivateWebhooks)) {
    throw new Refusal('The target must be an https address. Only 127.0.0.1 may use http, with --allow-private-webhooks.')
  }
  // "--type all" reports every type.
  const types = type?.includes('all') ? [] : type
  return { targetUrl: url, types, subject, description, enabled }
}

const create = async (stores: AdminStores, { site, ...options }: Settings & { readonly url: string }, self: Command) => {
  const area = await hooksOf(stores, site)
  const created = await createWebhook(area, site, { ...checkedSettings(options as Settings), targetUrl: options.url }, administrator)
  if (!created) throw new Refusal(`Site ${site} already has ${mostWebhooks} webhooks. Remove one of them first.`)
  const { webhook, secret } = created
  const { json } = self.optsWithGlobals<GlobalOptions>()
  const text = textOf({ id: webhook.id, secret }, json)
  await printOnce(text, { what: 'webhook', again: 'create', undo: 'remove' }, `${webhook.id} --site ${site}`, () =>
    removeWebhook(area, webhook, administrator),
  )
  return undefined
}
