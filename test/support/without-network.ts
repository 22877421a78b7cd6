import { AsyncLocalStorage } from 'node:async_hooks'
import type { S3Client } from '@aws-sdk/client-s3'

/** Steps of the SDK that matter only on a network. They take most of the time of a call. */
const needless = [
  ...['logger', 'validateBucketName', 'regionRedirect', 'regionRedirectEndpoint', 'bucketEndpoint', 'endpointV2'],
  ...['ssec', 'httpAuthScheme', 'httpSigning', 's3Express', 'getUserAgent', 'hostHeader', 'recursionDetection'],
  'addExpectContinue',
]
const checksums = ['flexibleChecksums', 'flexibleChecksumsInput', 'flexibleChecksumsResponse']

/** Makes a client of a bucket in memory fast. Like the SDK, it serialises requests and repeats calls. */
export const lighten = (client: S3Client, bucket: string, { hasChecksums = false } = {}): S3Client => {
  const { middlewareStack, config } = client
  const send = client.send.bind(client) as (command: never) => Promise<unknown>
  const { add, concat } = middlewareStack
  const { requestHandler } = config
  // The SDK keeps the steps of a command only if a call has no options.
  const options = new AsyncLocalStorage<object>()
  const endpointV2 = { url: new URL(`https://s3.test/${bucket}`) }
  Object.assign(config, {
    cacheMiddleware: true,
    requestHandler: { handle: (request: never) => requestHandler.handle(request, options.getStore()) },
  })
  Object.assign(middlewareStack, {
    add(...step: Parameters<typeof add>) {
      Reflect.deleteProperty(client, 'handlers')
      add(...step)
    },
    concat(other: typeof middlewareStack) {
      const whole = concat(other)
      for (const name of [...needless, ...(hasChecksums ? [] : checksums)]) whole.remove(`${name}Middleware`)
      whole.add(
        (next, context) => {
          Object.assign(context, { endpointV2 })
          return next
        },
        { step: 'serialize', priority: 'high' },
      )
      return whole
    },
  })
  return Object.assign(client, { send: (command: never, own = {}) => options.run(own, () => send(command)) })
}
