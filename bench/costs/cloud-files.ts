import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, GetObjectCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { StorageResources } from '../../lib/deps.ts'
import { createS3ObjectStore } from '../../lib/storage/s3/s3-object-store.ts'
import { createSqsRemovalQueue } from '../../lib/storage/sqs-removal-queue.ts'

/** What the storage has beside its tables when it is deployed, in a bucket and a queue of its own at `AWS_ENDPOINT_URL`. */
export const openCloudFiles = async (): Promise<Pick<StorageResources, 'store' | 'removals' | 'downloads'>> => {
  const client = new S3Client({ forcePathStyle: true })
  const bucket = `costs-${randomUUID()}`
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
  const queues = new SQSClient({})
  const { QueueUrl = '' } = await queues.send(new CreateQueueCommand({ QueueName: bucket }))
  return {
    store: createS3ObjectStore({ client, once: client, bucket }),
    removals: createSqsRemovalQueue(queues, QueueUrl),
    downloads: {
      largestAnswer: 4 * 1024 * 1024,
      urlOf: (key) => getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key }), { expiresIn: 300 }),
    },
  }
}
