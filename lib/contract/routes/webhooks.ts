const webhooks = '/webresources/api/v3/sites/{site}/webhooks'
const webhook = `${webhooks}/{webhook}` as const
const deliveries = `${webhook}/deliveries` as const
const write = { group: 'webhooks', right: 'access:write' } as const

export const webhooksRoutes = [
  { operation: 'listWebhooks', method: 'GET', path: webhooks, ...write },
  { operation: 'createWebhook', method: 'POST', path: webhooks, ...write },
  { operation: 'getWebhook', method: 'GET', path: webhook, ...write },
  { operation: 'changeWebhook', method: 'PUT', path: webhook, ...write },
  { operation: 'testWebhook', method: 'POST', path: `${webhook}/test`, ...write },
  { operation: 'listDeliveries', method: 'GET', path: deliveries, ...write },
  { operation: 'repeatDelivery', method: 'POST', path: `${deliveries}/{delivery}/repeat`, ...write },
  { operation: 'removeWebhook', method: 'DELETE', path: webhook, ...write },
] as const
