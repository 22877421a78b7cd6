import { lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openCategoriesStores } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { createCategoriesDeps } from '../../lib/service/deps.ts'
import { createCategoriesHandler } from '../categories/group.ts'

const settings = readSettingsOf('categories')
const telemetry = createTelemetry('categories', settings.logLevel)
const deps = createCategoriesDeps(settings, openCategoriesStores(settings), { telemetry })

export const handler = lambdaHandler(createCategoriesHandler(deps), settings)
