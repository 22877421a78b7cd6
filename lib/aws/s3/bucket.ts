import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  type HeadObjectCommandOutput,
  ListPartsCommand,
  type Part,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { StandardRetryStrategy } from '@smithy/core/retry'
import { ServiceError } from '../../core/errors.ts'
import { createTurns } from '../../core/in-parallel.ts'
import type { Expected } from '../../storage/object-store.ts'
import { failLikePort, timeouts } from '../calls/client-calls.ts'

/**
 * `client` repeats calls after transient failures, so it is for idempotent calls only. `once` repeats only refused
 * calls. It is for calls that make a version, because after a lost answer the version would stay unknown. An object of
 * more than `largestCopy` bytes is copied in parts. `finding` is the bucket with a later deadline, for finding the
 * results of calls whose answer was lost. Calls that may take long (`sendLong`) take a turn.
 */
export interface Bucket {
  readonly client: S3Client
  readonly once: S3Client
  readonly name: string
  readonly largestCopy: number
  readonly known: { readonly lacks: Set<keyof typeof abilities>; isSortedByBytes?: Promise<boolean> }
  readonly options: { readonly abortSignal?: AbortSignal }
  readonly takeTurn: ReturnType<typeof createTurns>
  readonly finding?: Bucket
}

// Features that the store behind a bucket may lack. Each text names the consequence. AWS lacks only the versions, and
// only in a new bucket.
const abilities = {
  'conditional removals': 'the service checks the version only before the call',
  'listings sorted by name': 'names are sent as they are, and must be valid in XML',
  'versions (of a new bucket, for 15 minutes)': 'a replaced object cannot be restored there',
}

const mostAttempts = 3

// In milliseconds. With all repetitions, a call takes less time than a function may run. `socketTimeout` is longer,
// because the reader of an answer may be slow.
const requestTimeout = 8_000
const socketTimeout = 20_000

// The timer of a connection also runs while a call waits for a socket. So there are more sockets than long calls, and the
// other calls wait only briefly. A function may open 1,024 sockets and files.
const sockets = { httpAgent: { maxSockets: 512 }, httpsAgent: { maxSockets: 512 } }
const longCallsInFlight = 128

const passingCodes: readonly (string | undefined)[] = ['SlowDown', 'InternalError', 'ServiceUnavailable']

export const isPassing = (code: string | undefined): boolean => passingCodes.includes(code)

// S3 may report an internal error although it has executed the call. If a write without a condition were repeated, it
// would make two versions, and the attempt could undo only the second one.
const notRepeatable = new WeakSet<object>()

const noteNotRepeatable = (request: unknown, error: unknown): void => {
  const { method, headers } = request as { readonly method: string; readonly headers: object }
  const isConditional = 'if-match' in headers || 'if-none-match' in headers
  const isInternal = error instanceof S3ServiceException && error.name === 'InternalError'
  if (isInternal && method !== 'POST' && !isConditional) notRepeatable.add(error)
}

const createRejectionRetries = (): StandardRetryStrategy => {
  const strategy = new StandardRetryStrategy(mostAttempts)
  const next = strategy.refreshRetryTokenForRetry.bind(strategy)
  strategy.refreshRetryTokenForRetry = async (token, failure) => {
    const { error } = failure
    const isRefusal = error instanceof S3ServiceException && isPassing(error.name) && !notRepeatable.has(error)
    // A call whose answer was lost may have been executed.
    if (!isRefusal) throw new Error('The outcome of this call is unknown')
    return next(token, failure)
  }
  return strategy
}

export const createS3Clients = (config: S3ClientConfig = {}): Pick<Bucket, 'client' | 'once'> => {
  // With this header, each part would wait for 100 Continue, over a new connection.
  const shared: S3ClientConfig = { expectContinueHeader: false, ...config }
  const requestHandler = { ...timeouts(requestTimeout, socketTimeout), ...sockets }
  const client = failLikePort(new S3Client({ maxAttempts: mostAttempts, requestHandler, ...shared }))
  const retrying = { requestHandler: client.config.requestHandler, retryStrategy: createRejectionRetries() }
  const once = failLikePort(new S3Client({ ...shared, ...retrying }))
  once.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        noteNotRepeatable(args.request, error)
        throw error
      }
    },
    { step: 'deserialize', priority: 'high', name: 'noteNotRepeatable' },
  )
  return { client, once }
}

type Opening = Pick<Bucket, 'client' | 'once' | 'name'> & { readonly largestCopy?: number | undefined }

export const openBucket = ({ largestCopy = 256 * 1024 * 1024, ...clients }: Opening): Bucket => ({
  ...clients,
  largestCopy,
  known: { lacks: new Set() },
  options: {},
  takeTurn: createTurns({ atOnce: longCallsInFlight }),
})

export const until = (bucket: Bucket, abortSignal: AbortSignal): Bucket => ({ ...bucket, options: { abortSignal } })

/** A type, and a mark. After a lost answer, a writer recognises its own object by the mark. */
export const marked = (contentType: string | undefined, mark: string) => ({
  ContentType: contentType,
  Metadata: { change: mark },
})
export const markOf = (head: Pick<HeadObjectCommandOutput, 'Metadata'> | undefined): string | undefined =>
  head?.Metadata?.['change']

/** A write succeeds only if the key has this state. If undefined, any state is allowed. */
export const onlyOnto = (expected: Pick<Expected, 'version'> | undefined) => {
  if (!expected) return {}
  return expected.version === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected.version }
}

// In milliseconds. Joining or copying a large object may take longer than other calls.
const longTimeout = 60_000

type LongOptions = Bucket['options'] & { readonly requestTimeout: number }

export const sendLong = <Answer>({ takeTurn, options }: Bucket, send: (options: LongOptions) => Promise<Answer>) =>
  takeTurn(() => send({ ...options, requestTimeout: longTimeout }), options.abortSignal)

export const callsInFlight = 32

export const mostParts = 10_000

/** The version in the port is the entity tag without its quotes. */
export const unquote = (tag: string | undefined): string => tag?.replaceAll('"', '') ?? ''

const serviceErrorIn = (error: unknown): S3ServiceException | undefined => {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof S3ServiceException ? cause : undefined
}
export const statusOf = (error: unknown): number | undefined => serviceErrorIn(error)?.$metadata.httpStatusCode

export const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 || serviceErrorIn(error)?.name === 'NoSuchKey'

/**
 * When uploads compete for a key, S3 aborts some of them. A caller may also cancel an upload, or replace a part that
 * another request has listed.
 */
export const isUploadGone = (error: unknown): boolean =>
  ['NoSuchUpload', 'InvalidPart'].includes(serviceErrorIn(error)?.name ?? '')

/**
 * True when a condition was false, when another call was faster (409), or when the object or the part does not exist.
 * Then S3 has changed nothing.
 */
export const isRefused = (error: unknown): boolean =>
  isMissing(error) || isUploadGone(error) || [409, 412].includes(statusOf(error) ?? 0)

/**
 * True when the call was refused at the first attempt. The refusal of a repetition may be caused by the first attempt.
 */
export const isRefusedAtOnce = (error: unknown): boolean =>
  isRefused(error) && (serviceErrorIn(error)?.$metadata.attempts ?? 1) === 1

export const noteLack = ({ known, name }: Bucket, ability: keyof typeof abilities): void => {
  if (known.lacks.has(ability)) return
  console.warn(`The store of the bucket ${name} does not support ${ability}: ${abilities[ability]}.`)
  known.lacks.add(ability)
}

export interface Upload {
  readonly key: string
  readonly uploadId: string
}

/** S3 needs the algorithm of the checksums at the start of an upload, and each checksum at its end. */
export const beginUpload = async (
  { client, name, options }: Bucket,
  goal: Omit<CreateMultipartUploadCommandInput, 'Bucket'>,
): Promise<string> => {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: name, ...goal }), options)
  if (!UploadId) throw new Error('S3 began an upload without an id')
  return UploadId
}

export const sendPart = async ({ client, name }: Bucket, { key, uploadId }: Upload, number: number, bytes: Buffer) => {
  const command = { Bucket: name, Key: key, UploadId: uploadId, PartNumber: number, Body: bytes }
  const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand(command))
  return { PartNumber: number, ETag, ChecksumCRC32 }
}

// The SDK's paginator would never end, because S3 sends a marker with the last page too.
export const listParts = async ({ client, name }: Bucket, { key, uploadId }: Upload): Promise<Part[]> => {
  const found: Part[] = []
  let after: string | undefined
  do {
    const command = { Bucket: name, Key: key, UploadId: uploadId, PartNumberMarker: after }
    const { Parts = [], IsTruncated, NextPartNumberMarker } = await client.send(new ListPartsCommand(command))
    found.push(...Parts)
    after = IsTruncated ? NextPartNumberMarker : undefined
  } while (after !== undefined && found.length < mostParts)
  return found
}

export const abortUpload = async ({ client, name, options }: Bucket, { key, uploadId }: Upload): Promise<void> => {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key: key, UploadId: uploadId }), options)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
