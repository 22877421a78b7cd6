import { createRemovalWorker } from '../../lib/aws/lambda/removal-worker.ts'
import { openFileStores } from '../../lib/aws/open-files.ts'
import { readRemovalsSettings } from '../../lib/config/config.ts'
import { systemClock } from '../../lib/core/clock.ts'

/** The worker that completes removals. */
export const handler = createRemovalWorker({ ...openFileStores(readRemovalsSettings()), clock: systemClock })
