import { readEdgeConfig } from '../../lib/config.ts'
import { createDocumentationDeps } from '../../lib/deps.ts'
import { createDocumentClient } from '../../lib/dynamodb.ts'
import { createTelemetry } from '../../lib/telemetry.ts'
import { createDocumentationHandler } from './group.ts'

const config = readEdgeConfig()

/** The entry of the Lambda function. */
export const handler = createDocumentationHandler(
  createDocumentationDeps(config, {
    documents: createDocumentClient(),
    telemetry: createTelemetry('documentation', config.LOG_LEVEL),
  }),
)
