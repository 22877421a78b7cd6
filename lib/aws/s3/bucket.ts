import type { S3Client } from '@aws-sdk/client-s3'
import { S3ServiceException } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'

/** A bucket and the clients that speak to it. */
export interface Bucket {
  /** Repeats by itself what fails in passing: for calls that do no more the second time. */
  readonly client: S3Client
  /** Repeats what was refused alone: for calls that make a version, which nobody would know of if their answer is lost. */
  readonly once: S3Client
  readonly name: string
  readonly known: Known
  /** What each call is made with: it is cut at this signal. */
  readonly options: { readonly abortSignal?: AbortSignal }
}

/** What stands behind a bucket may know less than S3 does: what has been found out about it. */
interface Known {
  readonly lacks: Set<Ability>
  comparesNamesAsTheyAre?: Promise<boolean>
}

/** What some stores that speak like S3 lack. */
export type Ability =
  | 'a copy onto nothing'
  | 'a removal of one version alone'
  | 'a write onto one version alone'
  | 'listings in the order of names'
  | 'versions (of a new bucket, for 15 minutes)'

export const openBucket = (clients: Pick<Bucket, 'client' | 'once' | 'name'>): Bucket => ({
  ...clients,
  known: { lacks: new Set() },
  options: {},
})

/** The bucket as it is spoken to until a signal comes. */
export const until = (bucket: Bucket, abortSignal: AbortSignal): Bucket => ({ ...bucket, options: { abortSignal } })

/** What a copy names its source by. */
export const copySource = ({ name }: Bucket, key: string): string =>
  `${name}/${key.split('/').map(encodeURIComponent).join('/')}`

/** How long a call may take that puts together or copies a large object, in milliseconds; a request of a function is over before. */
export const longCall = { requestTimeout: 60_000 }

/** How many calls one change makes at once. */
export const callsInFlight = 32

/** The entity tag without its quotes: what the port calls a version. */
export const unquote = (tag: string | undefined): string => tag?.replaceAll('"', '') ?? ''

/** The answer of S3 that a call failed with, whatever the client has made of it. */
const refusalIn = (error: unknown): S3ServiceException | undefined => {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof S3ServiceException ? cause : undefined
}
const statusOf = (error: unknown): number | undefined => refusalIn(error)?.$metadata.httpStatusCode

export const isMissing = (error: unknown): boolean => statusOf(error) === 404 || refusalIn(error)?.name === 'NoSuchKey'

/** What was asked for by its name is no version but what hides older ones. */
export const isMarker = (error: unknown): boolean => statusOf(error) === 405

/** A name that S3 gives to nothing, or something that is wrong with every call, such as credentials that have ended. */
export const isMalformed = (error: unknown): boolean => statusOf(error) === 400

/** A condition did not hold, or a race was lost (409), or nothing was there to compare with (404). Nothing was made. */
export const isRefused = (error: unknown): boolean => isMissing(error) || [409, 412].includes(statusOf(error) ?? 0)

/** A refusal that a repetition has met may be for what the first attempt has made after all. */
export const isRefusedAtOnce = (error: unknown): boolean =>
  isRefused(error) && (refusalIn(error)?.$metadata.attempts ?? 1) === 1

/** An upload that is to be completed is there no more: S3 gives some of them up when a race is lost. */
export const isUploadGone = (error: unknown): boolean => refusalIn(error)?.name === 'NoSuchUpload'

/** The errors by which S3 says that it has not done what it was asked to, and that it may do it when it is asked again. */
export const passingCodes: readonly string[] = ['SlowDown', 'InternalError', 'ServiceUnavailable']

/** Whether S3 itself has answered so: an answer that was lost on its way, or broke off, is none. */
export const isRefusedInPassing = (error: unknown): boolean =>
  error instanceof S3ServiceException && passingCodes.includes(error.name)

/** Notes that a store lacks something, and tells the log so once. */
export const noteLack = ({ known, name }: Bucket, ability: Ability, instead: string): void => {
  if (!known.lacks.has(ability)) console.warn(`What holds the bucket ${name} does not know ${ability}: ${instead}.`)
  known.lacks.add(ability)
}

/**
 * Makes a call under a condition. A store that does not know the condition (501) gets the call without it, and the check that stands before
 * the call has to do.
 */
export const onCondition = async <Output>(
  bucket: Bucket,
  ability: Ability,
  call: (isConditional: boolean) => Promise<Output>,
): Promise<Output> => {
  if (bucket.known.lacks.has(ability)) return call(false)
  try {
    return await call(true)
  } catch (error) {
    if (statusOf(error) !== 501) throw error
    noteLack(bucket, ability, 'the check before it has to do')
    return call(false)
  }
}
