import {
  type HeadObjectCommandOutput,
  type PutObjectCommandInput,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { StandardRetryStrategy } from '@smithy/core/retry'
import { ServiceError } from '../../core/errors.ts'
import type { Expected } from '../../storage/object-store.ts'
import { failLikePort, timeouts } from '../calls/client-calls.ts'

export interface Bucket {
  // Repeats transient failures: for idempotent calls.
  readonly client: S3Client
  // Repeats refusals only: for calls that make a version, which would stay unknown after a lost answer.
  readonly once: S3Client
  readonly name: string
  // Bytes: a larger object is copied in parts.
  readonly largestCopy: number
  readonly known: Known
  readonly options: { readonly abortSignal?: AbortSignal }
}

/** The store behind a bucket may lack these. The text is the consequence. AWS lacks only versions, in a new bucket. */
const abilities = {
  'a removal of one version alone': 'only the check before the call remains',
  'listings in the order of names': 'names are sent as they are, and must be valid in XML',
  'versions (of a new bucket, for 15 minutes)': 'a replaced object cannot be restored there',
}

interface Known {
  readonly lacks: Set<keyof typeof abilities>
  isSortedByBytes?: Promise<boolean>
}

const mostAttempts = 3

// In milliseconds. With every repetition, a request takes less than the time of a function. Its reader may be slow.
const requestTimeout = 8_000
const socketTimeout = 20_000

const passingCodes: readonly (string | undefined)[] = ['SlowDown', 'InternalError', 'ServiceUnavailable']

export const isPassing = (code: string | undefined): boolean => passingCodes.includes(code)

const createRejectionRetries = (): StandardRetryStrategy => {
  const strategy = new StandardRetryStrategy(mostAttempts)
  const next = strategy.refreshRetryTokenForRetry.bind(strategy)
  strategy.refreshRetryTokenForRetry = async (token, failure) => {
    const { error } = failure
    const isRefusal = error instanceof S3ServiceException && isPassing(error.name)
    // A call whose answer was lost may have been executed.
    if (!isRefusal) throw new Error('The outcome of this call is unknown')
    return next(token, failure)
  }
  return strategy
}

export const createS3Clients = (config: S3ClientConfig = {}): Pick<Bucket, 'client' | 'once'> => {
  const client = new S3Client({
    maxAttempts: mostAttempts,
    requestHandler: timeouts({ requestTimeout, socketTimeout }),
    // Each part would wait for permission, over a new connection.
    expectContinueHeader: false,
    ...config,
  })
  const once = new S3Client({
    expectContinueHeader: false,
    ...config,
    requestHandler: client.config.requestHandler,
    retryStrategy: createRejectionRetries(),
  })
  failLikePort(client)
  failLikePort(once)
  return { client, once }
}

type Opening = Pick<Bucket, 'client' | 'once' | 'name'> & { readonly largestCopy?: number | undefined }

export const openBucket = ({ largestCopy = 256 * 1024 * 1024, ...clients }: Opening): Bucket => ({
  ...clients,
  largestCopy,
  known: { lacks: new Set() },
  options: {},
})

export const until = (bucket: Bucket, abortSignal: AbortSignal): Bucket => ({ ...bucket, options: { abortSignal } })

/**
 * The bucket with the deadline for changes, and with the one for finding the results of calls whose answer was lost.
 */
export interface StepBuckets {
  readonly doing: Bucket
  readonly finding: Bucket
}

/** A type, and a mark by which the writer of an object recognises it after a lost answer. */
export const marked = (contentType: string, mark: string) => ({ ContentType: contentType, Metadata: { change: mark } })
export const markOf = (head: Pick<HeadObjectCommandOutput, 'Metadata'> | undefined): string | undefined =>
  head?.Metadata?.['change']

/** A write succeeds only onto this state; without one, onto any. */
export const onlyOnto = (
  expected: Pick<Expected, 'version'> | undefined,
): Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'> => {
  if (!expected) return {}
  return expected.version === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected.version }
}

// Joining or copying a large object takes longer than a request of a function.
const longCall = { requestTimeout: 60_000 }
export const longOptions = ({ options }: Bucket) => ({ ...options, ...longCall })

export const callsInFlight = 32

/** Of one multipart upload. */
export const mostParts = 10_000

/** The port's version is the entity tag without quotes. */
export const unquote = (tag: string | undefined): string => tag?.replaceAll('"', '') ?? ''

const serviceErrorIn = (error: unknown): S3ServiceException | undefined => {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof S3ServiceException ? cause : undefined
}
export const statusOf = (error: unknown): number | undefined => serviceErrorIn(error)?.$metadata.httpStatusCode

export const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 || serviceErrorIn(error)?.name === 'NoSuchKey'

/** A condition did not hold, or a race was lost (409), or there was nothing to compare with (404). Nothing was made. */
export const isRefused = (error: unknown): boolean => isMissing(error) || [409, 412].includes(statusOf(error) ?? 0)

/** Refused without a repetition: the refusal of a repetition may be caused by the first attempt. */
export const isRefusedAtOnce = (error: unknown): boolean =>
  isRefused(error) && (serviceErrorIn(error)?.$metadata.attempts ?? 1) === 1

/** S3 aborts some uploads that lose a race. */
export const isUploadGone = (error: unknown): boolean => serviceErrorIn(error)?.name === 'NoSuchUpload'

export const noteLack = ({ known, name }: Bucket, ability: keyof typeof abilities): void => {
  if (known.lacks.has(ability)) return
  console.warn(`The store of the bucket ${name} does not support ${ability}: ${abilities[ability]}.`)
  known.lacks.add(ability)
}
