import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { countOpenUploads } from '../../lib/aws/dynamodb/uploads.ts'
import { createRemovalsHandler } from '../../lib/aws/lambda/removal-worker.ts'
import { openFileStores } from '../../lib/aws/open-files.ts'
import { openSites } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { systemClock } from '../../lib/core/time.ts'

const settings = readSettingsOf('removals')
const dynamodb = createDocumentClient()

export const handler = createRemovalsHandler({
  ...openFileStores(settings, { dynamodb }),
  sites: openSites(settings, { dynamodb }),
  countOpenUploads: () => countOpenUploads({ dynamodb, table: settings.uploadsTable }),
  dataCentre: settings.dataCentre,
  clock: systemClock,
})
