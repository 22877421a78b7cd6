import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { FileStoreSettings } from '../config/config.ts'
import type { Downloads, LinkTo } from '../service/deps.ts'
import type { Stores } from '../service/stores.ts'
import type { RemovalQueue } from '../storage/folder-removals.ts'
import type { ObjectInfo } from '../storage/object-store.ts'
import { createJournal } from './dynamodb/journal.ts'
import { createPathLocks } from './dynamodb/path-locks.ts'
import { openBucket } from './s3/bucket.ts'
import { createS3Clients } from './s3/clients.ts'
import { downloadLink } from './s3/download-url.ts'
import { createPartBuffers } from './s3/part-buffers.ts'
import { createS3ObjectStore } from './s3/s3-object-store.ts'
import { createUploadParts } from './s3/upload-parts.ts'

/** What fits in an answer of Lambda (6 MB) when its bytes are written in base64, with room for the rest of it. In bytes. */
const largestAnswer = 4 * 1024 * 1024

/** The queue is needed for large folders only: its client is loaded with the first of them, and no cold start pays for it. */
const queueOnDemand = (queueUrl: string): RemovalQueue => {
  const open = async (): Promise<RemovalQueue> =>
    (await import('./sqs-removal-queue.ts')).createSqsRemovalQueue(queueUrl)
  let queue: Promise<RemovalQueue> | undefined
  return {
    async send(task, delay) {
      queue ??= open()
      return (await queue).send(task, delay)
    },
  }
}

type FileStores = Pick<Stores, 'files' | 'workflows' | 'removals' | 'removalQueue' | 'uploadParts' | 'history'>

/** Files in S3, what keeps their paths from being changed in DynamoDB, and the rest of removals in SQS. */
export const createFileStores = ({
  dynamodb,
  filesBucket: bucket,
  pathLocksTable: table,
  journalTable,
  keptDays,
  removalsQueueUrl,
}: FileStoreSettings & { readonly dynamodb: DynamoDBDocumentClient }): FileStores & {
  readonly downloads: Downloads
  readonly linkTo: LinkTo
} => {
  const { client, once } = createS3Clients()
  const { record, history } = createJournal({ dynamodb, table: journalTable })
  const { workflows, removals } = createPathLocks({ dynamodb, table, record, keptDays })
  const linkTo = (object: ObjectInfo) => downloadLink({ client, name: bucket }, object)
  const buffers = createPartBuffers()
  const files = createS3ObjectStore({ client, once, bucket, removals, record, buffers })
  return {
    files,
    history,
    uploadParts: createUploadParts({ bucket: openBucket({ client, once, name: bucket }), adopt: files.adopt, buffers }),
    workflows,
    removals,
    removalQueue: queueOnDemand(removalsQueueUrl),
    downloads: { largestAnswer, urlOf: async (object) => (await linkTo(object)).url },
    linkTo,
  }
}
