import { lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openFieldsStores } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { createFieldsDeps } from '../../lib/service/deps.ts'
import { createFieldsHandler } from '../fields/group.ts'

const settings = readSettingsOf('fields')
const telemetry = createTelemetry('fields', settings.logLevel)
const deps = createFieldsDeps(settings, openFieldsStores(settings), { telemetry })

export const handler = lambdaHandler(createFieldsHandler(deps), settings)
