import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createFileStores } from '../lib/aws/file-stores.ts'
import type { tables } from '../lib/aws/tables.ts'

const pathLocksTable = 'pathLocks' satisfies keyof typeof tables

/** The file stores as they are deployed, over a bucket and a queue of their own at `AWS_ENDPOINT_URL`, an IP address, and the tables of a client. */
export const openCloudFiles = async (documents: DynamoDBDocumentClient) => {
  const client = new S3Client({ forcePathStyle: true })
  const bucket = `bench-${randomUUID()}`
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
  const queues = new SQSClient({})
  const { QueueUrl: removalsQueueUrl = '' } = await queues.send(new CreateQueueCommand({ QueueName: bucket }))
  const settings = { filesBucket: bucket, pathLocksTable, removalsQueueUrl }
  const { downloads, ...stores } = createFileStores(settings, documents)
  return { client, bucket, stores, downloads }
}
