import { randomBytes } from 'node:crypto'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { SecretSeals, Webhook, WebhookChange, WebhookSecret, WebhookSettings } from './webhooks.ts'

/** V-5, in milliseconds. */
const secretOverlap = 24 * 3600 * 1000

export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

type Given<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

interface NewSettings extends Given<WebhookSettings> {
  readonly targetUrl: string
}

interface NewWebhook {
  readonly webhook: Webhook
  readonly secret: string
}

/** V-2, V-4. `end` is the position of the newest history entry of the site. Errors: unavailable. */
export const newWebhook = async (
  seals: Pick<SecretSeals, 'seal'>,
  site: SiteId,
  { targetUrl, types = [], subject = '', enabled = true, description = '' }: NewSettings,
  end: number,
): Promise<NewWebhook> => {
  const id = `whk_${randomBytes(8).toString('hex')}`
  const secret = newSecret()
  const secrets = [{ sealed: await seals.seal({ site, id }, secret) }]
  return { webhook: { site, id, targetUrl, types, subject, enabled, description, secrets, position: end }, secret }
}

const rotated = (present: readonly WebhookSecret[], sealed: string, now: number): readonly WebhookSecret[] => [
  { sealed },
  ...present.slice(0, 1).map((newest) => ({ ...newest, until: now + secretOverlap })),
]

interface WantedChange {
  readonly settings: Given<WebhookSettings>
  /** The new secret. */
  readonly sealed: string | undefined
  readonly end: number
  readonly now: number
}

/** V-5. */
export const changeOf =
  ({ settings, sealed, end, now }: WantedChange) =>
  (present: Webhook): WebhookChange => ({
    ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    ...(sealed && { secrets: rotated(present.secrets, sealed, now) }),
    ...(settings.enabled && !present.enabled && { position: end, forgetsFailures: true as const }),
  })

/** V-3: the address of a target may contain a secret, so the history has only its host. */
export const webhookEntry = (
  type: 'webhook.created' | 'webhook.changed' | 'webhook.removed' | 'webhook.disabled',
  { site, id, targetUrl }: Pick<Webhook, 'site' | 'id' | 'targetUrl'>,
  author: Author,
): HistoryEntry => ({
  ...author,
  type,
  site,
  subject: `webhook/${id}`,
  details: { host: new URL(targetUrl).host },
})
