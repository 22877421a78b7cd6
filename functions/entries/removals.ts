import { createRemovalWorker } from '../../lib/aws/lambda/removal-worker.ts'
import { openFileStores } from '../../lib/aws/open-files.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { systemClock } from '../../lib/core/clock.ts'

export const handler = createRemovalWorker({ ...openFileStores(readSettingsOf('removals')), clock: systemClock })
