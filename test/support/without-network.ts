import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable } from 'node:stream'
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
  const { add, concat } = middlewareStack
  const { requestHandler, streamCollector } = config
  // The SDK keeps the steps of a command only if a call has no options.
  const options = new AsyncLocalStorage<object>()
  const endpointV2 = { url: new URL(`https://s3.test/${bucket}`) }
  // For each call, the SDK copies the own settings of a client twice, and pipes each answer, which is one piece here.
  const own = {
    cacheMiddleware: true,
    requestHandler: { handle: (request: never) => requestHandler.handle(request, options.getStore()) },
    async streamCollector(body: Readable) {
      const piece: unknown = body.read()
      return typeof piece === 'string' ? Buffer.from(piece) : (piece ?? streamCollector(body))
    },
  }
  const sender: S3Client = Object.create(client, { config: { value: Object.assign(Object.create(config), own) } })
  const send = client.send.bind(sender) as (command: never) => Promise<unknown>
  Object.assign(middlewareStack, {
    add(...step: Parameters<typeof add>) {
      Reflect.deleteProperty(sender, 'handlers')
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
  return Object.assign(client, { send: (command: never, given = {}) => options.run(given, () => send(command)) })
}
