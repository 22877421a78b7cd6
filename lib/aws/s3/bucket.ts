import type { S3Client } from '@aws-sdk/client-s3'
import { S3ServiceException } from '@aws-sdk/client-s3'

/** A bucket and the clients that speak to it. */
export interface Bucket {
  /** Repeats by itself what fails in passing: for calls that do no more the second time. */
  readonly client: S3Client
  /** Makes each call once: for calls that make a version, which nobody would know of if their answer is lost. */
  readonly once: S3Client
  readonly name: string
}

/** How many calls one change makes at once. */
export const callsInFlight = 32

/** The entity tag without its quotes: what the port calls a version. */
export const unquote = (tag: string | undefined): string => tag?.replaceAll('"', '') ?? ''

export const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && (error.$metadata.httpStatusCode === 404 || error.name === 'NoSuchKey')

export const isPreconditionFailure = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === 412
