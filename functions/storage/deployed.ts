import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createCloudResources } from '../../lib/cloud-resources.ts'
import { readDeployedStorageConfig } from '../../lib/config.ts'
import { createStorageDeps, type StorageDeps } from '../../lib/deps.ts'
import type { RemovalQueue } from '../../lib/storage/removal-queue.ts'
import { createS3ObjectStore } from '../../lib/storage/s3/s3-object-store.ts'

/** What fits in an answer of Lambda (6 MB) when its bytes are written in base64, with room for the rest of it. In bytes. */
const largestAnswer = 4 * 1024 * 1024

/** How long a URL to a large file works, in seconds. */
const urlLifetime = 300

/** The queue is needed for large folders only: its client is loaded with the first of them, and no cold start pays for it. */
const queueOnDemand = (queueUrl: string): RemovalQueue => {
  const open = async (): Promise<RemovalQueue> => {
    const [{ SQSClient }, { createSqsRemovalQueue }] = await Promise.all([
      import('@aws-sdk/client-sqs'),
      import('../../lib/storage/sqs-removal-queue.ts'),
    ])
    return createSqsRemovalQueue(new SQSClient({ maxAttempts: 3 }), queueUrl)
  }
  let queue: Promise<RemovalQueue> | undefined
  return {
    async send(task, delay) {
      queue ??= open()
      return (await queue).send(task, delay)
    },
  }
}

/** The storage on S3, SQS and DynamoDB, from the settings of the function. */
export const deployedStorage = (config = readDeployedStorageConfig()): StorageDeps => {
  const client = new S3Client({ maxAttempts: 3 })
  const once = new S3Client({ maxAttempts: 1, requestHandler: client.config.requestHandler })
  const bucket = config.FILES_BUCKET
  return createStorageDeps(config, {
    ...createCloudResources('storage', config),
    store: createS3ObjectStore({ client, once, bucket }),
    removals: queueOnDemand(config.REMOVALS_QUEUE_URL),
    downloads: {
      largestAnswer,
      async urlOf(key) {
        const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
        return getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key }), { expiresIn: urlLifetime })
      },
    },
  })
}
