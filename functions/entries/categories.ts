import { createCategoryStores } from '../../lib/aws/dynamodb/category-stores.ts'
import { createDirectoryStores } from '../../lib/aws/dynamodb/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { createJournal } from '../../lib/aws/dynamodb/journal.ts'
import { lambdaHandler } from '../../lib/aws/lambda/lambda.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { readCategoriesSettings } from '../../lib/config/config.ts'
import { createCategoriesDeps } from '../../lib/service/deps.ts'
import { createCategoriesHandler } from '../categories/group.ts'

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
