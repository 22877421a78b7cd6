import { createCategoryStores } from '../../lib/aws/category-stores.ts'
import { createDirectoryStores } from '../../lib/aws/directory-stores.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb.ts'
import { lambdaHandler } from '../../lib/aws/lambda.ts'
import { createTelemetry } from '../../lib/aws/telemetry.ts'
import { readCategoriesSettings } from '../../lib/config.ts'
import { createCategoriesDeps } from '../../lib/deps.ts'
import { createCategoriesHandler } from './group.ts'

const settings = readCategoriesSettings()
const dynamodb = createDocumentClient()
const stores = {
  ...createDirectoryStores({ dynamodb, ...settings }),
  ...createCategoryStores({ dynamodb, ...settings }),
}
const telemetry = createTelemetry('categories', settings.logLevel)

/** The entry of the Lambda function. */
export const handler = lambdaHandler(
  createCategoriesHandler(createCategoriesDeps(settings, stores, { telemetry })),
  settings,
)
