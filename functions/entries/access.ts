import { lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openAccessStores } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { readClientSecrets } from '../../lib/config/settings.ts'
import { cachedLookup } from '../../lib/core/cached-lookup.ts'
import { systemClock } from '../../lib/core/time.ts'
import { createAccessDeps } from '../../lib/service/deps.ts'
import { createAccessHandler } from '../access/group.ts'

const settings = readSettingsOf('access')
const parameter = settings.clientSecretsParameter

// the client secrets of issuers are in a parameter of Systems Manager, which is read when a secret is first needed.
// A new secret takes effect after five minutes.
const remembered = { ttl: 300_000, max: 1, now: systemClock.monotonic }
const findSecrets = cachedLookup(async (name: string): Promise<ReadonlyMap<string, string>> => {
  const { readParameter } = await import('../../lib/aws/read-parameter.ts')
  const text = await readParameter(name)
  return text === undefined ? new Map() : readClientSecrets(text, `The parameter ${name} `)
}, remembered)

const findClientSecret = async (issuer: string): Promise<string | undefined> =>
  parameter === undefined ? undefined : (await findSecrets(parameter)).get(issuer)

const telemetry = createTelemetry('access', settings.logLevel)
const surroundings = { telemetry, insecureSignIn: true, findClientSecret }
const deps = createAccessDeps(settings, openAccessStores(settings), surroundings)

export const handler = lambdaHandler(createAccessHandler(deps), settings)
