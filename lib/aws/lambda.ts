import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import type { Handler } from '../http/request.ts'
import { fromGateway, type GatewayEvent, type GatewayResult, type PathEncoding, toGateway } from './gateway.ts'

/** Time that is kept, before Lambda ends a request, for telling the caller so: in milliseconds. */
const timeToAnswer = 500

/** What Lambda calls. */
export type LambdaHandler = (event: GatewayEvent, context: Context) => Promise<GatewayResult>

/**
 * The entry of a Lambda function behind API Gateway: middy watches the time around the core. When it is nearly up, it aborts the
 * request's signal; the core answers 503 then, and records that it did. middy's own answer would come ahead of that one, so there is none.
 */
export const lambdaHandler = (handler: Handler, pathEncoding: PathEncoding = 'encoded'): LambdaHandler =>
  middy<GatewayEvent, GatewayResult>({
    timeoutEarlyInMillis: timeToAnswer,
    timeoutEarlyResponse: () => new Promise(() => {}),
  }).handler((event, context, { signal }) =>
    handler(fromGateway(event, pathEncoding, signal), () => context.getRemainingTimeInMillis(), toGateway),
  )
