import { join } from 'node:path'
import { lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openSites } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { createDocumentationDeps } from '../../lib/service/deps.ts'
import { createDocumentationHandler } from '../documentation/group.ts'

const settings = readSettingsOf('documentation')
const stores = { sites: openSites(settings) }
const telemetry = createTelemetry('documentation', settings.logLevel)
const consoleFolder = join(import.meta.dirname, 'console')
const deps = createDocumentationDeps(settings, stores, { telemetry, consoleFolder })

export const handler = lambdaHandler(createDocumentationHandler(deps), settings)
