import type { GatewayEvent } from '../../lib/http/gateway.ts'

type Headers = Readonly<Record<string, string>>

/** The event of a REST API proxy integration. */
export const gatewayEvent = (
  httpMethod: string,
  path: string,
  headers: Headers,
  body: string | null = null,
): GatewayEvent => ({
  httpMethod,
  path,
  multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
  multiValueQueryStringParameters: null,
  body,
  isBase64Encoded: false,
  requestContext: { requestId: '8b2f7c1e-0000-4000-8000-000000000000' },
})
