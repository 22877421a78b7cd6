import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { SQSClient } from '@aws-sdk/client-sqs'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { readDeployedStorageConfig } from '../../lib/config.ts'
import { createStorageDeps, type StorageDeps } from '../../lib/deps.ts'
import { createDocumentClient } from '../../lib/dynamodb.ts'
import { createS3ObjectStore } from '../../lib/storage/s3/s3-object-store.ts'
import { createSqsRemovalQueue } from '../../lib/storage/sqs-removal-queue.ts'
import { createTelemetry } from '../../lib/telemetry.ts'

/** What fits in an answer of Lambda (6 MB) when its bytes are written in base64, with room for the rest of it. In bytes. */
const largestAnswer = 4 * 1024 * 1024

/** How long a URL to a large file works, in seconds. */
const urlLifetime = 300

/** The storage on S3, SQS and DynamoDB, from the settings of the function. */
export const deployedStorage = (): StorageDeps => {
  const config = readDeployedStorageConfig()
  const client = new S3Client({ maxAttempts: 3 })
  const bucket = config.FILES_BUCKET
  return createStorageDeps(config, {
    documents: createDocumentClient(),
    telemetry: createTelemetry('storage', config.LOG_LEVEL),
    store: createS3ObjectStore({ client, bucket }),
    removals: createSqsRemovalQueue(new SQSClient({ maxAttempts: 3 }), config.REMOVALS_QUEUE_URL),
    downloads: {
      largestAnswer,
      urlOf: (key) =>
        getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key }), { expiresIn: urlLifetime }),
    },
  })
}
