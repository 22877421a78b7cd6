import type { FileStoreSettings, StorageSettings } from '../config/config.ts'
import { onDemand } from '../core/cached-lookup.ts'
import { createLiveChanges } from '../history/live-changes.ts'
import type { ObjectInfo } from '../storage/object-store.ts'
import type { RemovalQueue } from '../storage/path-locks.ts'
import { type Given, openDirectory, openJournal, openLocks, openUploads } from './open-tables.ts'
import { type Bucket, createS3Clients, openBucket } from './s3/bucket.ts'
import { downloadLink } from './s3/read.ts'
import { createS3ObjectStore } from './s3/s3-object-store.ts'
import { createPartBuffers } from './s3/stage.ts'
import { createDirectParts, createUploadParts } from './s3/upload-parts.ts'

// In bytes: a part of a file with this length fits into an answer of Lambda, which has at most 6 MB in base64.
const largestAnswer = 4 * 1024 * 1024

// Only removals of large folders need the queue, so its client is not loaded in a cold start.
const queueOnDemand = (queueUrl: string): RemovalQueue => {
  const open = onDemand(async () => (await import('./sqs-queues.ts')).createSqsQueue(queueUrl))
  return { send: async (...given) => (await open()).send(...given) }
}

interface FileOptions extends Given, Pick<Parameters<typeof createS3ObjectStore>[0], 'uploadRecords'> {
  readonly s3?: Pick<Bucket, 'client' | 'once'>
}

export const openFileStores = (
  settings: FileStoreSettings,
  { s3 = createS3Clients(), uploadRecords, ...given }: FileOptions = {},
) => {
  const { workflows, removals, record, history, usage } = openLocks(settings, given)
  const buffers = createPartBuffers()
  const bucket = openBucket({ ...s3, name: settings.filesBucket })
  const hasOwnKey = settings.filesKey !== undefined
  const { now } = given
  const files = createS3ObjectStore({ bucket, hasOwnKey, removals, record, buffers, now, uploadRecords })
  const linkTo = (object: ObjectInfo) => downloadLink(bucket, object)
  return {
    files,
    history,
    workflows,
    removals,
    counts: usage,
    linkTo,
    // The limits of V-23.
    live: createLiveChanges(history, { perSite: 20, inAll: 1_000 }),
    uploadParts: createUploadParts({ bucket, adopt: files.adopt, buffers }),
    directParts: createDirectParts(bucket),
    removalQueue: queueOnDemand(settings.removalsQueueUrl),
    downloads: { largestAnswer, urlOf: async (object: ObjectInfo) => (await linkTo(object)).url },
  }
}

export const openStorageStores = (settings: StorageSettings) => {
  const { record } = openJournal(settings)
  const uploads = openUploads(settings, { record })
  const { downloads, linkTo, ...fileStores } = openFileStores(settings, { record, ...uploads })
  const stores = { ...openDirectory(settings), ...fileStores, ...uploads }
  return { stores, downloads, linkTo }
}
