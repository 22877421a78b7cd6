import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { StandardRetryStrategy } from '@smithy/core/retry'
import { failLikePort, timeouts } from '../calls/client-calls.ts'
import { type Bucket, isRefusedInPassing } from './bucket.ts'

const mostAttempts = 3

/** How long S3 may take to begin an answer, in milliseconds: with every repetition, less than a function has. */
const requestTimeout = 8_000

/** How long a body on its way may stand still, in milliseconds: whoever reads it may be slow as well. */
const socketTimeout = 20_000

/** Repeats what S3 itself has refused to do for now. What was lost on its way may have been done, and is not repeated. */
const repeatingRefusals = (): StandardRetryStrategy => {
  const strategy = new StandardRetryStrategy(mostAttempts)
  const next = strategy.refreshRetryTokenForRetry.bind(strategy)
  strategy.refreshRetryTokenForRetry = async (token, failure) => {
    if (!isRefusedInPassing(failure.error)) throw new Error('What this call has done is not known')
    return next(token, failure)
  }
  return strategy
}

/** The two clients of a bucket, whose calls end and fail as the ports promise. */
export const createS3Clients = (config: S3ClientConfig = {}): Pick<Bucket, 'client' | 'once'> => {
  const client = new S3Client({
    maxAttempts: mostAttempts,
    requestHandler: timeouts({ requestTimeout, socketTimeout }),
    // A part would wait for leave to be sent, over a connection of its own each time.
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
