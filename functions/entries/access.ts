import { createClientSecrets } from '../../lib/aws/client-secrets.ts'
import { lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openAccessStores } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { createAccessDeps } from '../../lib/service/deps.ts'
import { createAccessHandler } from '../access/group.ts'

const settings = readSettingsOf('access')
const findClientSecret = createClientSecrets(settings.clientSecretsParameter)
const telemetry = createTelemetry('access', settings.logLevel)

export const handler = lambdaHandler(
  createAccessHandler(
    createAccessDeps(settings, openAccessStores(settings), { telemetry, insecureSignIn: true, findClientSecret }),
  ),
  settings,
)
