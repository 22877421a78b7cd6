import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { StandardRetryStrategy } from '@smithy/core/retry'
import { failLikePort, timeouts } from '../calls/client-calls.ts'
import { type Bucket, isRefusedInPassing } from './bucket.ts'

const mostAttempts = 3

// With every repetition, less than the time of a function. In milliseconds.
const requestTimeout = 8_000

// Its reader may be slow as well. In milliseconds.
const socketTimeout = 20_000

// A call whose answer was lost may have been carried out, so it is not repeated.
const repeatingRefusals = (): StandardRetryStrategy => {
  const strategy = new StandardRetryStrategy(mostAttempts)
  const next = strategy.refreshRetryTokenForRetry.bind(strategy)
  strategy.refreshRetryTokenForRetry = async (token, failure) => {
    if (!isRefusedInPassing(failure.error)) throw new Error('What this call has done is not known')
    return next(token, failure)
  }
  return strategy
}

export const createS3Clients = (config: S3ClientConfig = {}): Pick<Bucket, 'client' | 'once'> => {
  const client = new S3Client({
    maxAttempts: mostAttempts,
    requestHandler: timeouts({ requestTimeout, socketTimeout }),
    // Each part would wait for permission, over a new connection.
    expectContinueHeader: false,
    ...config,
  })
  const once = new S3Client({
    expectContinueHeader: false,
    ...config,
    requestHandler: client.config.requestHandler,
    retryStrategy: repeatingRefusals(),
  })
  failLikePort(client)
  failLikePort(once)
  return { client, once }
}
