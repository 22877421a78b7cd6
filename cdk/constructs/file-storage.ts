import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  HttpMethods,
  ObjectOwnership,
  StorageClass,
} from 'aws-cdk-lib/aws-s3'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { workloads } from '../config/functions.ts'
import type { Settings } from '../config/settings.ts'
import { runRegularly } from './background-functions.ts'

/**
 * The bucket of a data centre is private, encrypted, versioned, and accepts only TLS. With versions, the service can
 * undo a change that failed half-way. Removed and replaced files can be restored for `keptDays`.
 */
export const createFilesBucket = (
  scope: Construct,
  deletionProtection: boolean,
  { keptDays, coldAfterDays, uploadOrigins }: Settings,
): Bucket =>
  new Bucket(scope, 'FilesBucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    lifecycleRules: [
      {
        id: 'forget-old-versions',
        noncurrentVersionExpiration: Duration.days(keptDays),
        // Readers also get a restored version from this storage class at once.
        ...(coldAfterDays !== undefined && {
          noncurrentVersionTransitions: [
            { storageClass: StorageClass.INFREQUENT_ACCESS, transitionAfter: Duration.days(coldAfterDays) },
          ],
        }),
        expiredObjectDeleteMarker: true,
      },
      // An upload expires after at most 6 days (U-25). Lifecycle rules run only once a day, and with a delay.
      { id: 'clear-unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(8) },
      // Old versions of these objects are never needed. When two rules apply, S3 obeys the shorter one.
      {
        id: 'clear-scratch',
        prefix: 'scratch/',
        expiration: Duration.days(3),
        noncurrentVersionExpiration: Duration.days(1),
      },
    ],
    // Browsers download large files from here, at URLs that the service signs. After a redirect, a browser sends the
    // origin "null".
    cors: [
      {
        allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
        allowedOrigins: ['*'],
        allowedHeaders: ['*'],
        exposedHeaders: ['ETag', 'Content-Range', 'Accept-Ranges', 'Last-Modified', 'Retry-After'],
        maxAge: 86_400,
      },
      // Browsers send the parts of large files to the bucket (U-31).
      ...(uploadOrigins.length > 0
        ? [{ allowedMethods: [HttpMethods.PUT], allowedOrigins: uploadOrigins, allowedHeaders: ['*'], maxAge: 86_400 }]
        : []),
    ],
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  })

export const safeQueue = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const

/** A queue and its dead letters. `longestWork` is the time of a worker for one message. */
export const createWorkQueue = (parts: Construct, longestWork: Duration) => {
  const failed = new Queue(parts, 'Failed', safeQueue)
  const queue = new Queue(parts, 'Queue', {
    ...safeQueue,
    // The queue delivers a message again after six times the longest work of a worker, as AWS advises. By then the
    // worker has ended, even if Lambda took long to start it.
    visibilityTimeout: Duration.seconds(longestWork.toSeconds() * 6),
    deadLetterQueue: { queue: failed, maxReceiveCount: 5 },
  })
  return { queue, failed }
}

export type WorkQueue = ReturnType<typeof createWorkQueue>

// Recounts run often, because a recount takes several steps, and the quota of an existing site applies only after the
// first recount.
const recountEvery = Duration.minutes(20)

export const recountRegularly = (scope: Construct, worker: IFunction): void =>
  runRegularly(scope, 'Recount', worker, recountEvery)

export const consumeQueue = (queue: Queue, worker: IFunction): void => {
  const eventSourceArn = queue.queueArn
  // Each removal deletes as fast as the bucket allows, and requests also need functions of the account.
  const maxConcurrency = workloads.removals.workers
  new EventSourceMapping(queue, 'Worker', { target: worker, eventSourceArn, batchSize: 1, maxConcurrency })
}
