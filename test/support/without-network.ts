import { AsyncLocalStorage } from 'node:async_hooks'
import type { S3Client } from '@aws-sdk/client-s3'
import { createS3Clients } from '../../lib/aws/s3/bucket.ts'
import { inMemory } from './bucket.ts'
import type { MemoryS3 } from './memory-s3.ts'

/** Steps of the SDK that matter only on a network. They take most of the time of a call. */
const needless = [
  ...['logger', 'validateBucketName', 'regionRedirect', 'regionRedirectEndpoint', 'endpointV2', 'bucketEndpoint'],
  ...['ssec', 'httpAuthScheme', 'httpSigning', 's3Express', 'getUserAgent', 'hostHeader', 'recursionDetection'],
  ...['flexibleChecksums', 'flexibleChecksumsInput', 'flexibleChecksumsResponse', 'addExpectContinue'],
].map((name) => `${name}Middleware`)

const lighten = (client: S3Client): S3Client => {
  const { middlewareStack, config } = client
  const send = client.send.bind(client) as (command: never) => Promise<unknown>
  const { concat } = middlewareStack
  const { requestHandler } = config
  // The SDK keeps the steps of a command only if a call has no options.
  const options = new AsyncLocalStorage<object>()
  Object.assign(config, {
    cacheMiddleware: true,
    requestHandler: { handle: (request: never) => requestHandler.handle(request, options.getStore()) },
  })
  Object.assign(middlewareStack, {
    concat(other: typeof middlewareStack) {
      const whole = concat(other)
      for (const name of needless) whole.remove(name)
      return whole
    },
  })
  return Object.assign(client, {
    send: (command: never, own = {}) => options.run(own, () => send(command)),
  })
}

/** Fast clients of a bucket in memory. Like the SDK, they serialise requests and repeat calls. */
export const createFastClients = (bucket: string, { requestHandler }: Pick<MemoryS3, 'requestHandler'>) => {
  const config = { ...inMemory({ requestHandler }), endpoint: `https://s3.test/${bucket}` }
  const { client, once } = createS3Clients(config)
  return { client: lighten(client), once: lighten(once) }
}
