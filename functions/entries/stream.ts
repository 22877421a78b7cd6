import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { createStorageStores } from '../../lib/aws/storage-stores.ts'
import { readListeningSettings, readStreamSettings } from '../../lib/config/config.ts'
import { closerOf } from '../../server/close-server.ts'
import { createStreamServer } from './stream/stream-server.ts'

const settings = readStreamSettings()
const { httpEndpoint } = readListeningSettings()
const { stores, linkTo } = createStorageStores(settings)
const telemetry = createTelemetry('stream', settings.logLevel)

/** The entry of the Lambda Web Function: a process that listens where Lambda tells it to. */
const server = createStreamServer(settings, stores, { telemetry, linkTo })
const close = closerOf(server)
// Lambda gives no new requests by then, and ends the process a second later.
process.once('SIGTERM', () => void close().then(() => process.exit(0)))
const colon = httpEndpoint.lastIndexOf(':')
server.listen(Number(httpEndpoint.slice(colon + 1)), httpEndpoint.slice(0, colon).replace(/^\[|\]$/g, ''))
