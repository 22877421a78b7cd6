import type { DocumentationConfig } from './config.ts'
import type { Resources } from './deps.ts'
import { createDocumentClient } from './dynamodb.ts'
import { createTelemetry } from './telemetry.ts'

/** What a function runs on in the cloud. Made once, at its cold start. */
export const createCloudResources = (
  serviceName: string,
  { DIRECTORY_REGION, LOG_LEVEL }: DocumentationConfig,
): Resources => ({
  documents: createDocumentClient(),
  ...(DIRECTORY_REGION && { directory: createDocumentClient({ region: DIRECTORY_REGION }) }),
  telemetry: createTelemetry(serviceName, LOG_LEVEL),
})
