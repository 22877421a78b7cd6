import { readCategoriesConfig } from '../../lib/config.ts'
import { createCategoriesDeps } from '../../lib/deps.ts'
import { createDocumentClient } from '../../lib/dynamodb.ts'
import { createTelemetry } from '../../lib/telemetry.ts'
import { createCategoriesHandler } from './group.ts'

const config = readCategoriesConfig()

/** The entry of the Lambda function. */
export const handler = createCategoriesHandler(
  createCategoriesDeps(config, {
    documents: createDocumentClient(),
    telemetry: createTelemetry('categories', config.LOG_LEVEL),
  }),
)
