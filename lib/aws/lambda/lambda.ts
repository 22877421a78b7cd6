import { Readable } from 'node:stream'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import type { AccessSettings } from '../../config/config.ts'
import { createDeadline, reserves } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Handler, Send } from '../../http/request.ts'
import { fromGateway, type GatewayEvent, type GatewayResult, toGateway } from './gateway.ts'
import { createSecretCheck } from './origin-secrets.ts'

export type LambdaHandler = (event: GatewayEvent, context: Context) => Promise<GatewayResult>

// Errors: unavailable, when the stream of the answer breaks.
const buffered =
  (caller: Parameters<typeof toGateway>[1]): Send<GatewayResult> =>
  async (answer) => {
    try {
      return await toGateway(answer, caller)
    } catch (error) {
      if (!(answer.body instanceof Readable) || error instanceof ServiceError) throw error
      throw new ServiceError('unavailable', { cause: error })
    }
  }

/**
 * The entry of a Lambda function behind API Gateway. Shortly before the time is up, middy aborts the signal of the
 * request, and the core answers 503 and logs the request. The answer of middy would come earlier, so its promise never
 * settles.
 */
export const lambdaHandler = (
  handler: Handler,
  {
    pathEncoding = 'encoded',
    binaryAccept = 'any',
    originSecrets = [],
  }: Partial<Pick<AccessSettings, 'pathEncoding' | 'binaryAccept' | 'originSecrets'>> = {},
): LambdaHandler => {
  const isSecret = createSecretCheck(originSecrets)
  return middy<GatewayEvent, GatewayResult>({
    timeoutEarlyInMillis: reserves.answer,
    timeoutEarlyResponse: () => new Promise(() => {}),
  }).handler((event, context, { signal }) => {
    const request = fromGateway(event, pathEncoding, signal, isSecret)
    const send = buffered({ accept: request.headers['accept'] ?? '', binaryAccept })
    const deadline = createDeadline(() => context.getRemainingTimeInMillis())
    return handler(request, deadline, send)
  })
}
