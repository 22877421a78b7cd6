import { countOpenUploads } from '../../lib/aws/dynamodb/uploads.ts'
import { createRemovalsHandler } from '../../lib/aws/lambda/removal-worker.ts'
import { openFileStores } from '../../lib/aws/open-files.ts'
import { openSites } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { systemClock } from '../../lib/core/time.ts'

const settings = readSettingsOf('removals')

export const handler = createRemovalsHandler({
  ...openFileStores(settings),
  sites: openSites(settings),
  countOpenUploads: () => countOpenUploads({ table: settings.uploadsTable }),
  dataCentre: settings.dataCentre,
  clock: systemClock,
})
