import { createDocumentClient } from '../../lib/aws/dynamodb.ts'
import { createFileStores } from '../../lib/aws/file-stores.ts'
import { createRemovalWorker } from '../../lib/aws/removal-worker.ts'
import { systemClock } from '../../lib/clock.ts'
import { readRemovalsSettings } from '../../lib/config.ts'

/** The entry of the worker that finishes removals. */
export const handler = createRemovalWorker({
  ...createFileStores({ dynamodb: createDocumentClient(), ...readRemovalsSettings() }),
  clock: systemClock,
})
