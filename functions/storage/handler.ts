import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createStorageStores } from '../../lib/aws/storage-stores.ts'
import { createTelemetry } from '../../lib/aws/telemetry.ts'
import { readStorageSettings } from '../../lib/config.ts'
import { createStorageDeps } from '../../lib/deps.ts'
import type { LeaseTerms } from '../../lib/uploads/lease.ts'
import { createStorageHandler } from './group.ts'

const settings = readStorageSettings()
const { stores, downloads, linkTo } = createStorageStores(settings)
const telemetry = createTelemetry('storage', settings.logLevel)

/** By then the function of a request has ended (28 s), whatever became of it: nothing is renewed. */
const lease: LeaseTerms = { lasts: 33_000 }

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createStorageHandler(createStorageDeps(settings, stores, { telemetry, downloads, linkTo, lease })),
  settings,
)
