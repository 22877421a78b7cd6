import { Readable } from 'node:stream'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { reserves } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Handler, Send } from '../../http/request.ts'
import {
  type BinaryAccept,
  fromGateway,
  type GatewayEvent,
  type GatewayResult,
  type PathEncoding,
  toGateway,
} from './gateway.ts'

/** What Lambda calls. */
export type LambdaHandler = (event: GatewayEvent, context: Context) => Promise<GatewayResult>

/** The result for the gateway. A stream comes from a store: when it breaks, the store has failed in passing. Errors: unavailable. */
const buffered =
  (way: Parameters<typeof toGateway>[1]): Send<GatewayResult> =>
  async (answer) => {
    try {
      return await toGateway(answer, way)
    } catch (error) {
      if (!(answer.body instanceof Readable) || error instanceof ServiceError) throw error
      throw new ServiceError('unavailable', { cause: error })
    }
  }

/** What is particular about a gateway; AWS unless told. */
interface GatewayKind {
  readonly pathEncoding?: PathEncoding
  readonly binaryAccept?: BinaryAccept
}

/**
 * The entry of a Lambda function behind API Gateway: middy watches the time around the core. When it is nearly up, it aborts the
 * request's signal; the core answers 503 then, and records that it did. middy's own answer would come ahead of that one, so there is none.
 */
export const lambdaHandler = (
  handler: Handler,
  { pathEncoding = 'encoded', binaryAccept = 'any' }: GatewayKind = {},
): LambdaHandler =>
  middy<GatewayEvent, GatewayResult>({
    timeoutEarlyInMillis: reserves.answer,
    timeoutEarlyResponse: () => new Promise(() => {}),
  }).handler((event, context, { signal }) => {
    const request = fromGateway(event, pathEncoding, signal)
    const send = buffered({ accept: request.headers['accept'] ?? '', binaryAccept })
    return handler(request, () => context.getRemainingTimeInMillis(), send)
  })
