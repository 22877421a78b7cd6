import { join } from 'node:path'
import { createSiteDirectory, withoutHistory } from '../../lib/aws/dynamodb/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { lambdaHandler } from '../../lib/aws/lambda/lambda.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { readDocumentationSettings } from '../../lib/config/config.ts'
import { createDocumentationDeps } from '../../lib/service/deps.ts'
import { createDocumentationHandler } from '../documentation/group.ts'

const settings = readDocumentationSettings()
const { directoryRegion: region } = settings
const directory = createDocumentClient(region === undefined ? {} : { region })
const stores = {
  sites: createSiteDirectory({ dynamodb: directory, table: settings.sitesTable, record: withoutHistory }),
}
const telemetry = createTelemetry('documentation', settings.logLevel)

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createDocumentationHandler(
    createDocumentationDeps(settings, stores, { telemetry, consoleFolder: join(import.meta.dirname, 'console') }),
  ),
  settings,
)
