import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import { errors } from '../../lib/errors.ts'
import { corsHeaders } from '../../lib/http/cors.ts'

interface Refusal {
  readonly type: ResponseType
  readonly error: { readonly code: number; readonly status: number; readonly message: string }
  /** What the caller is told to wait, in seconds. */
  readonly retryAfter?: number
}

/** A refusal that the service has no code for: its code is the status. */
const byStatus = (status: number, message: string) => ({ code: status, status, message })

/**
 * What callers meet is the limit of Lambda: 6 MB of an event, in which the body stands in base64. The gateway's own limit of 10 MB
 * lies above it.
 */
const requestTooLarge =
  'The request is too large: its body may have about 4.5 MB, which are 6 MB in base64. Send large files one by one.'

/** What the gateway refuses before a function sees it, or for want of an answer from one. */
const refusals: readonly Refusal[] = [
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, error: errors.routeUnknown },
  { type: ResponseType.RESOURCE_NOT_FOUND, error: errors.routeUnknown },
  { type: ResponseType.REQUEST_TOO_LARGE, error: { ...errors.bodyTooLarge, message: requestTooLarge } },
  { type: ResponseType.UNSUPPORTED_MEDIA_TYPE, error: errors.mediaTypeUnsupported },
  { type: ResponseType.THROTTLED, error: errors.tooManyRequests, retryAfter: 1 },
  { type: ResponseType.QUOTA_EXCEEDED, error: errors.tooManyRequests, retryAfter: 3600 },
  { type: ResponseType.INTEGRATION_FAILURE, error: errors.unavailable, retryAfter: 1 },
  { type: ResponseType.INTEGRATION_TIMEOUT, error: errors.unavailable, retryAfter: 1 },
  { type: ResponseType.WAF_FILTERED, error: byStatus(403, 'A firewall rule refused the request.') },
  {
    type: ResponseType.DEFAULT_4XX,
    error: byStatus(
      400,
      'The gateway refuses the request: it is malformed, its headers exceed 10 KB or its body 4.5 MB.',
    ),
  },
  { type: ResponseType.DEFAULT_5XX, error: errors.unexpected },
]

/** The service's one error body. `$context` is filled in by the gateway; nothing here repeats what the caller sent. */
const body = ({ code, message }: Refusal['error']) =>
  `{"code":${code},"message":${JSON.stringify(message)},"requestId":"$context.requestId"}`

/** Fixed values stand in quotes there; without them they are taken for the names of what the gateway knows of the request. */
const fixed = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]))

/** Puts what the gateway itself refuses into the service's error body. */
export const addGatewayResponses = (api: RestApi): void => {
  for (const { type, error, retryAfter } of refusals) {
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: String(error.status),
      responseHeaders: {
        ...fixed({
          ...corsHeaders,
          'Cache-Control': 'no-store',
          ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
        }),
        'X-Request-Id': 'context.requestId',
      },
      templates: { 'application/json': body(error) },
    })
  }
}
