import { lambdaHandler } from '../../lib/aws/lambda/lambda.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { createStorageStores } from '../../lib/aws/storage-stores.ts'
import { readStorageSettings } from '../../lib/config/config.ts'
import { createStorageDeps } from '../../lib/service/deps.ts'
import type { LeaseTerms } from '../../lib/storage/uploads/lease.ts'
import { createStorageHandler } from '../storage/group.ts'

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
