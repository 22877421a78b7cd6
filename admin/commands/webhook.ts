import type { Command } from 'commander'
import { type ErrorName, errors, ServiceError } from '../../lib/core/errors.ts'
import { typePatterns } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { createDeliveryDeps } from '../../lib/service/deps.ts'
import { repeatDelivery, sendTest } from '../../lib/webhooks/deliver.ts'
import { createTarget } from '../../lib/webhooks/target.ts'
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  isOneLine,
  isPermitted,
  isSuccess,
  isTarget,
  longest,
  mostWebhooks,
  removeWebhook,
  viewOfDelivery,
  viewOfWebhook,
} from '../../lib/webhooks/webhooks.ts'
import { parserIf } from '../../local/flags.ts'
import { type AdminStores, administrator } from '../stores/admin-stores.ts'
import { areaOf, type GlobalOptions, onStores } from '../stores/stores.ts'
import { collect, groupOf, type OfSite, siteCommandOf } from '../terminal/arguments.ts'
import { printOnce, Refusal } from '../terminal/output.ts'

interface Options extends OfSite {
  readonly url?: string
  readonly type?: readonly string[]
  readonly subject?: string
  readonly description?: string
  readonly enable?: boolean
  readonly rotate?: true
  readonly allowPrivateWebhooks?: boolean
}

const everyType = 'all'

const depsOf = async (stores: AdminStores, { site, allowPrivateWebhooks: permitsPrivate = false }: Options) => {
  const { seals, webhooks, history } = await areaOf(stores, site)
  if (!seals) throw new Refusal('This deployment has no webhooks. Set "webhooks" to true in cdk.json, and deploy.')
  const target = createTarget({ permitsPrivate })
  return createDeliveryDeps({ sites: stores.sites, webhooks, seals, history }, { target })
}

// The sentences of the service name requests. These name commands.
const refusing = (name: ErrorName, sentence: string) => (error: unknown) => {
  throw error instanceof ServiceError && error.code === errors[name].code ? new Refusal(sentence) : error
}

const unknown = (site: SiteId) =>
  refusing('webhookUnknown', `Site ${site} has no such webhook. "webhook list --site ${site}" lists its webhooks.`)

const find = async (stores: AdminStores, id: string, options: Options) => {
  const deps = await depsOf(stores, options)
  return { deps, webhook: await findWebhook(deps, options.site, id).catch(unknown(options.site)) }
}

const settingsOf = ({ url: targetUrl, type, subject, description, enable: enabled, rotate }: Options) => {
  const types = type?.includes(everyType) ? [] : type && [...new Set(type)]
  return { targetUrl, types, subject: subject?.normalize('NFC'), description, enabled, rotate }
}

const refusePrivateOnAws = (_: Command, self: Command): void => {
  const { target, allowPrivateWebhooks } = self.optsWithGlobals<Options & GlobalOptions>()
  if (allowPrivateWebhooks && target === 'aws')
    throw new Refusal('AWS cannot reach a private target. Leave out --allow-private-webhooks.')
}

const refuseTarget = (url: string, { allowPrivateWebhooks = false }: Options) => {
  if (isPermitted(url, allowPrivateWebhooks)) return
  throw new Refusal(
    'The target must be an https address. On one machine, --allow-private-webhooks permits http for 127.0.0.1.',
  )
}

const create = async (stores: AdminStores, options: Options & { readonly url: string }, self: Command) => {
  const { site, url: targetUrl } = options
  const deps = await depsOf(stores, options)
  refuseTarget(targetUrl, options)
  const { id, secret } = await createWebhook(deps, site, { ...settingsOf(options), targetUrl }, administrator).catch(
    refusing('tooManyWebhooks', `Site ${site} already has ${mostWebhooks} webhooks. Remove one of them first.`),
  )
  const undo = () => removeWebhook(deps, { site, id, targetUrl }, administrator)
  return printOnce(self, 'webhook', `${id} --site ${site}`, { id, secret }, undo)
}

// A table would leave out an empty list.
const inText = (webhook: ReturnType<typeof viewOfWebhook>) => ({
  ...webhook,
  types: webhook.types.length > 0 ? webhook.types : everyType,
})

const list = async (stores: AdminStores, options: Options) => {
  const { webhooks } = await depsOf(stores, options)
  return (await webhooks.listOfSite(options.site)).map(viewOfWebhook)
}

const show = async (stores: AdminStores, id: string, options: Options) =>
  viewOfWebhook((await find(stores, id, options)).webhook)

const change = async (stores: AdminStores, id: string, options: Options) => {
  const { site, url } = options
  const wanted = settingsOf(options)
  if (Object.values(wanted).every((value) => value === undefined))
    throw new Refusal('Name what to change: "webhook change --help" lists the options.')
  if (url !== undefined) refuseTarget(url, options)
  const { deps, webhook } = await find(stores, id, options)
  return changeWebhook(deps, webhook, wanted, { author: administrator, now: Date.now() }).catch(unknown(site))
}

const remove = async (stores: AdminStores, id: string, options: Options) => {
  const { deps, webhook } = await find(stores, id, options)
  await removeWebhook(deps, webhook, administrator).catch(unknown(options.site))
  return { removed: true }
}

type DeliveryView = ReturnType<typeof viewOfDelivery>

const hasFailed = ({ status }: DeliveryView) => status === null || !isSuccess({ status })

const deliveryInText = ({ status, fault, milliseconds, attempt, ...delivery }: DeliveryView) => ({
  ...delivery,
  answer: status ?? fault ?? '',
  milliseconds,
  attempt,
})

const deliveries = async (stores: AdminStores, id: string, options: Options) => {
  const { deps } = await find(stores, id, options)
  return (await deps.webhooks.deliveries(options.site, id)).map(viewOfDelivery)
}

const test = async (stores: AdminStores, id: string, options: Options) => {
  const { deps, webhook } = await find(stores, id, options)
  return sendTest(deps, webhook)
}

const repeat = async (stores: AdminStores, id: string, delivery: string, options: Options) => {
  const { deps, webhook } = await find(stores, id, options)
  const listing = `"webhook deliveries ${id} --site ${options.site}" lists the last 100 deliveries.`
  const unknownDelivery = refusing('deliveryUnknown', `Webhook ${id} has no such delivery. ${listing}`)
  return repeatDelivery(deps, webhook, delivery).catch(unknownDelivery)
}

const parseTarget = parserIf(isTarget, 'It must be an https address without user, password and fragment.')

const parseLine = (most: number) =>
  parserIf((text) => isOneLine(text) && text.length <= most, `It must be one line of at most ${most} characters.`)

const parseType = parserIf(
  (text) => text === everyType || typePatterns.includes(text),
  'It must be a type of change, such as file.stored or file.*, or the word all.',
)

const privateOption = [
  '--allow-private-webhooks',
  'on one machine, permit targets at private addresses, like the flag of "serve"',
] as const

const withSettings = (command: Command): Command =>
  command
    .option('--type <type>', 'a type of changes to report: all, file.*, link.added … (repeatable)', collect(parseType))
    .option('--subject <text>', 'report only changes whose subject begins with this text', parseLine(longest.subject))
    .option('--description <text>', 'a note that describes the webhook', parseLine(longest.description))
    .option(...privateOption)

const urlOption = ['--url <address>', 'the address that gets the changes', parseTarget] as const

const ofWebhook = (name: string, description: string, example = 'ID --site 1001'): Command =>
  siteCommandOf(name, description, example).argument('<id>', 'the id of the webhook')

const createExample = '--site 1001 --url https://example.com/hooks --type "file.*" --type link.added'

export const webhookCommand = (): Command =>
  groupOf('webhook', 'addresses that get the changes of a site', 'list --site 1001', [
    withSettings(siteCommandOf('create', 'create a webhook, and print its secret once', createExample))
      .requiredOption(...urlOption)
      .option('--no-enable', 'create the webhook disabled')
      .action(onStores(create)),
    siteCommandOf('list', 'list the webhooks of a site').action(onStores(list, (all) => all.map(inText))),
    ofWebhook('show', 'show a webhook').action(onStores(show, inText)),
    withSettings(ofWebhook('change', 'change a webhook', 'ID --site 1001 --rotate'))
      .option(...urlOption)
      .option('--enable', 'send changes again')
      .option('--no-enable', 'stop sending changes')
      .option('--rotate', 'add a secret, and print it once; the previous secret works for 24 hours')
      .action(onStores(change, inText)),
    ofWebhook('remove', 'remove a webhook').action(onStores(remove)),
    ofWebhook('test', 'send a test event from this machine')
      .option(...privateOption)
      .action(onStores(test, deliveryInText, hasFailed)),
    ofWebhook('deliveries', 'list the last 100 deliveries').action(
      onStores(deliveries, (all) => all.map(deliveryInText)),
    ),
    ofWebhook('repeat', 'repeat a delivery from this machine', 'ID DELIVERY --site 1001')
      .argument('<delivery>', 'the id of the delivery')
      .option(...privateOption)
      .action(onStores(repeat, deliveryInText, hasFailed)),
  ]).hook('preAction', refusePrivateOnAws)
