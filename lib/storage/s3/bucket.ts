import type { S3Client } from '@aws-sdk/client-s3'
import { S3ServiceException } from '@aws-sdk/client-s3'

/** A bucket and the client that speaks to it. */
export interface Bucket {
  readonly client: S3Client
  readonly name: string
}

/** The entity tag without its quotes: what the port calls a version. */
export const unquote = (tag: string | undefined): string => tag?.replaceAll('"', '') ?? ''

export const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && (error.$metadata.httpStatusCode === 404 || error.name === 'NoSuchKey')

export const isPreconditionFailure = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === 412
