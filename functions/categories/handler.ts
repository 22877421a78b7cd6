import { createCategoryStores } from '../../lib/aws/category-stores.ts'
import { createDirectoryStores } from '../../lib/aws/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb.ts'
import { createJournal } from '../../lib/aws/journal.ts'
import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createTelemetry } from '../../lib/aws/telemetry.ts'
import { readCategoriesSettings } from '../../lib/config.ts'
import { createCategoriesDeps } from '../../lib/deps.ts'
import { createCategoriesHandler } from './group.ts'

const settings = readCategoriesSettings()
const dynamodb = createDocumentClient()
const { record } = createJournal({ dynamodb, table: settings.journalTable })
const stores = {
  ...createDirectoryStores({ dynamodb, ...settings }),
  ...createCategoryStores({ dynamodb, ...settings, record }),
}
const telemetry = createTelemetry('categories', settings.logLevel)

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createCategoriesHandler(createCategoriesDeps(settings, stores, { telemetry })),
  settings,
)
