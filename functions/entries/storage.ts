import { lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { openStorageStores } from '../../lib/aws/open-files.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { createStorageDeps } from '../../lib/service/deps.ts'
import { createStorageHandler } from '../storage/group.ts'

const settings = readSettingsOf('storage')
const { stores, downloads, linkTo } = openStorageStores(settings)
const telemetry = createTelemetry('storage', settings.logLevel)

// A function ends after 28 s, so no lease needs to be renewed.
const lease = { lasts: 33_000 }
const deps = createStorageDeps(settings, stores, { telemetry, downloads, linkTo, lease })

export const handler = lambdaHandler(createStorageHandler(deps), settings)
