import { readFieldsConfig } from '../../lib/config.ts'
import { createFieldsDeps } from '../../lib/deps.ts'
import { createDocumentClient } from '../../lib/dynamodb.ts'
import { createTelemetry } from '../../lib/telemetry.ts'
import { createFieldsHandler } from './group.ts'

const config = readFieldsConfig()

/** The entry of the Lambda function. */
export const handler = createFieldsHandler(
  createFieldsDeps(config, {
    documents: createDocumentClient(),
    telemetry: createTelemetry('fields', config.LOG_LEVEL),
  }),
)
