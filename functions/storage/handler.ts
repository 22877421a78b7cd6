import { createDirectoryStores } from '../../lib/aws/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb.ts'
import { createFileStores } from '../../lib/aws/file-stores.ts'
import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createTelemetry } from '../../lib/aws/telemetry.ts'
import { createUploadProgress } from '../../lib/aws/upload-progress.ts'
import { createUploadRecords } from '../../lib/aws/upload-records.ts'
import { readStorageSettings } from '../../lib/config.ts'
import { createStorageDeps } from '../../lib/deps.ts'
import type { LeaseTerms } from '../../lib/uploads/lease.ts'
import { createStorageHandler } from './group.ts'

const settings = readStorageSettings()
const dynamodb = createDocumentClient()
const { downloads, linkTo, ...fileStores } = createFileStores({ dynamodb, ...settings })
const stores = {
  ...createDirectoryStores({ dynamodb, ...settings }),
  ...fileStores,
  progress: createUploadProgress({ dynamodb, table: settings.uploadsTable }),
  uploadRecords: createUploadRecords({ dynamodb, table: settings.uploadsTable }),
}
const telemetry = createTelemetry('storage', settings.logLevel)

/** By then the function of a request has ended (28 s), whatever became of it: nothing is renewed. */
const lease: LeaseTerms = { lasts: 33_000 }

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createStorageHandler(createStorageDeps(settings, stores, { telemetry, downloads, linkTo, lease })),
  settings,
)
