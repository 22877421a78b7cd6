import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { createFileStores } from '../../lib/aws/file-stores.ts'
import { createRemovalWorker } from '../../lib/aws/lambda/removal-worker.ts'
import { readRemovalsSettings } from '../../lib/config/config.ts'
import { systemClock } from '../../lib/core/clock.ts'

/** The entry of the worker that finishes removals. */
export const handler = createRemovalWorker({
  ...createFileStores({ dynamodb: createDocumentClient(), ...readRemovalsSettings() }),
  clock: systemClock,
})
