import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'

/** The stored bytes of an upload, in the terms of `UploadParts`. */
export interface Holding {
  readonly name: string
  /** The MD5 of each whole part, in hex and in their order. None where the bytes wait in one piece. */
  readonly parts: readonly string[]
  /**
   * The store's name for the bytes after the last whole part; null when there are none, or all bytes are in one piece.
   */
  readonly tail: string | null
}

/** The uploads keep it and hand it on; what it means, the destination knows. */
export interface Target {
  readonly path: string
  readonly folder?: string
  readonly asDraft: boolean
  readonly keepsDraft?: boolean
  /** The key of the object. */
  readonly key: string
  readonly contentType: string
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
}

/** A file on its way in, piece by piece. Moments are milliseconds since the epoch, sizes bytes. */
export interface Upload {
  /** 32 hex digits. */
  readonly id: string
  readonly site: SiteId
  readonly user: string
  readonly target: Target
  readonly metadata: string
  readonly limit: number
  /** Null while nobody has said it. */
  readonly length: number | null
  /** Bytes that are stored for good. */
  readonly offset: number
  /** One that has all of its bytes, and is not, waits for that to be decided. */
  readonly isComplete: boolean
  readonly created: number
  readonly expires: number
  /** Null when there is nothing to be held any more. */
  readonly holding: Holding | null
}

export const mostOpen = 1_000

const day = 24 * 60 * 60 * 1000

const openFor = day
const oldest = 6 * day
const rememberedFor = day

export const expiryOf = ({ created }: Pick<Upload, 'created'>, now: number): number =>
  Math.min(now + openFor, created + oldest)

export const expiryOfComplete = (now: number): number => now + rememberedFor

export const isExpired = ({ expires }: Pick<Upload, 'expires'>, now: number): boolean => expires <= now

/** All of its bytes are stored, but it is not in place. */
export const isWaiting = ({ length, offset, isComplete }: Upload): boolean => !isComplete && offset === length

/** Throws for an upload that is in place already. */
export const holdingOf = ({ id, holding }: Pick<Upload, 'id' | 'holding'>): Holding => {
  if (!holding) throw new Error(`The bytes of the upload ${id} are nowhere`)
  return holding
}

export const tooLong = (limit: number): ServiceError =>
  new ServiceError('uploadTooLarge', { message: `The upload is larger than the ${limit} bytes allowed here.` })

/** Errors: uploadTooLarge. */
export const requireLength = (length: number | null, limit: number): void => {
  if (length !== null && length > limit) throw tooLong(limit)
}

export interface Announcement {
  readonly offset: number
  readonly length?: number | undefined
  /** Bytes; undefined when the request does not declare them. */
  readonly declared?: number | undefined
}

/**
 * The length that an upload has from an append on: once it is known, it stays (tus 1.0, "Creation"). Errors:
 * storageRefused, uploadTooLarge.
 */
const lengthFrom = (upload: Upload, given: number | undefined): number | null => {
  if (given === undefined) return upload.length
  if (upload.length !== null && upload.length !== given) {
    throw new ServiceError('storageRefused', {
      message: `The upload has ${upload.length} bytes: its length cannot be changed any more.`,
    })
  }
  if (given < upload.offset) {
    throw new ServiceError('storageRefused', {
      message: `The upload has ${upload.offset} bytes already: its length cannot be ${given}.`,
    })
  }
  requireLength(given, upload.limit)
  return given
}

/**
 * Decides whether an append may begin. Answers the length of the whole upload from then on, and how many bytes the
 * append may bring. Errors: offsetMismatch, storageRefused (a length that contradicts another one), uploadTooLarge.
 */
export const admitAppend = (
  upload: Upload,
  { offset, length: given, declared = 0 }: Announcement,
): { readonly length: number | null; readonly room: number } => {
  if (offset !== upload.offset) {
    throw new ServiceError('offsetMismatch', {
      message: `The upload is at offset ${upload.offset}, and not at ${offset}. Go on from there.`,
    })
  }
  const length = lengthFrom(upload, given)
  const end = length ?? upload.limit
  const room = end - offset
  if (declared > room) throw tooLong(end)
  return { length, room }
}
