import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openStorageStores } from '../../lib/aws/open-files.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { closerOf } from '../../server/server.ts'
import { createStreamServer } from './stream/stream-server.ts'

const settings = readSettingsOf('stream')
const { httpEndpoint } = readSettingsOf('listening')
const { stores, linkTo } = openStorageStores(settings)
const telemetry = createTelemetry('stream', settings.logLevel)

const server = createStreamServer(settings, stores, { telemetry, linkTo })
const close = closerOf(server)
// After this signal, Lambda sends no new requests and ends the process a second later.
process.once('SIGTERM', () => {
  stores.live.close()
  void close().then(() => process.exit(0))
})
const colon = httpEndpoint.lastIndexOf(':')
server.listen(Number(httpEndpoint.slice(colon + 1)), httpEndpoint.slice(0, colon).replace(/^\[|\]$/g, ''))
