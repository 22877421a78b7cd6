import type { SiteId } from '../../lib/core/ids.ts'
import type { Webhook } from '../../lib/webhooks/webhooks.ts'

export const testWebhook = (details: Partial<Webhook> = {}): Webhook => ({
  ...{ site: 1001 as SiteId, id: 'whk_one', targetUrl: 'https://hooks.example/in', types: [], subject: '' },
  ...{ enabled: true, description: '', secrets: [{ sealed: 'whsec_AAAA' }], position: 0, retries: [] },
  ...details,
})
