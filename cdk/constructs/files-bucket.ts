import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, ObjectOwnership } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'

interface Options {
  readonly deletionProtection: boolean
}

/** How long a file can be brought back after it was deleted or replaced. */
const memory = Duration.days(30)

/** The files of every site of a data centre: private, encrypted, over TLS only, and with their versions, which undo what fails half-way. */
export const createFilesBucket = (scope: Construct, { deletionProtection }: Options): Bucket =>
  new Bucket(scope, 'FilesBucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    lifecycleRules: [
      { id: 'forget-old-versions', noncurrentVersionExpiration: memory, expiredObjectDeleteMarker: true },
      { id: 'clear-unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      { id: 'clear-scratch', prefix: 'scratch/', expiration: Duration.days(1) },
    ],
    // Large files are downloaded from here, at URLs that the service signs; a browser follows its redirect with no origin of its own.
    cors: [
      {
        allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
        allowedOrigins: ['*'],
        allowedHeaders: ['*'],
        exposedHeaders: ['ETag', 'Content-Range', 'Last-Modified'],
        maxAge: 86_400,
      },
    ],
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  })
