import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createStorageStores } from '../../lib/aws/storage-stores.ts'
import { createTelemetry } from '../../lib/aws/telemetry.ts'
import { readStorageSettings } from '../../lib/config.ts'
import { createStorageDeps } from '../../lib/deps.ts'
import { createStorageHandler } from './group.ts'

const settings = readStorageSettings()
const { stores, downloads, linkTo } = createStorageStores(settings)
const telemetry = createTelemetry('storage', settings.logLevel)

/** For how long a request may have an upload to itself, in milliseconds: by then its function has ended (28 s), whatever became of it. */
const longestHold = 33_000

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createStorageHandler(createStorageDeps(settings, stores, { telemetry, downloads, linkTo, longestHold })),
  settings,
)
