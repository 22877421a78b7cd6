import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'

/** Where the bytes of an upload wait, as the store of parts has them. */
export interface Holding {
  readonly name: string
  /** The MD5 of each whole part, in hex and in their order. None where the bytes wait in one piece. */
  readonly parts: readonly string[]
  /** What the store calls the bytes behind the last whole part; null where there are none, or they wait in one piece. */
  readonly tail: string | null
}

/** Where the bytes go when all of them are there. The uploads keep it and hand it on; what it means, the destination knows. */
export interface Target {
  readonly path: string
  /** The folder that a file is sent into; without it the file is stored at its path as such. */
  readonly folder?: string
  readonly asDraft: boolean
  readonly keepsDraft?: boolean
  /** What the store will call the bytes, ... */
  readonly key: string
  /** ... and their media type. */
  readonly contentType: string
  /** The conditions of the request that created the upload, as they came. */
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
}

/** A file on its way in, piece by piece (decisions.md, section 9). Moments are milliseconds since the epoch, sizes bytes. */
export interface Upload {
  /** 32 hex digits. */
  readonly id: string
  readonly site: SiteId
  /** Any token of this user may go on. */
  readonly user: string
  readonly target: Target
  /** What its creator said of it, in the words of the protocol. */
  readonly metadata: string
  /** What it may have at most. */
  readonly limit: number
  /** Null while nobody has said it. */
  readonly length: number | null
  /** How many bytes are kept for good. */
  readonly offset: number
  /** Whether it is in place. One that has all of its bytes, and is not, waits for that to be decided. */
  readonly isComplete: boolean
  readonly created: number
  readonly expires: number
  /** Null when there is nothing to be held any more. */
  readonly holding: Holding | null
}

/** How many uploads of one user and site may be open. */
export const mostOpen = 1_000

const day = 24 * 60 * 60 * 1000

/** An open upload lives for a day after its last append, ... */
const openFor = day
/** ... and for six days at most: a bucket clears away the parts of unfinished uploads after eight. */
const oldest = 6 * day
/** A complete one is remembered, for those who have lost the answer. */
const rememberedFor = day

/** When an upload expires to which something has been added just now. */
export const expiryOf = ({ created }: Pick<Upload, 'created'>, now: number): number =>
  Math.min(now + openFor, created + oldest)

export const expiryOfComplete = (now: number): number => now + rememberedFor

export const isExpired = ({ expires }: Pick<Upload, 'expires'>, now: number): boolean => expires <= now

/** Whether all of its bytes are there, and it is not in place. */
export const isWaiting = ({ length, offset, isComplete }: Upload): boolean => !isComplete && offset === length

/** Where the bytes of an upload are that is not in place. */
export const holdingOf = ({ id, holding }: Pick<Upload, 'id' | 'holding'>): Holding => {
  if (!holding) throw new Error(`The bytes of the upload ${id} are nowhere`)
  return holding
}

/** The refusal of what is longer than it may be. */
export const tooLong = (limit: number): ServiceError =>
  new ServiceError('uploadTooLarge', { message: `The upload is larger than the ${limit} bytes allowed here.` })

/** Errors: uploadTooLarge. */
export const requireLength = (length: number | null, limit: number): void => {
  if (length !== null && length > limit) throw tooLong(limit)
}

/** What an append says of itself before its first byte. */
export interface Announcement {
  /** Where it goes on. */
  readonly offset: number
  /** The length of the whole upload, from one who knows it. */
  readonly length?: number | undefined
  /** How many bytes it brings; undefined when nobody has said. */
  readonly declared?: number | undefined
}

/** The length that an upload has from an append on: once it is known, it stays (tus 1.0, "Creation"). Errors: storageRefused, uploadTooLarge. */
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
 * Decides whether an append may begin. Answers the length of the whole upload from then on, and how many bytes the append may bring.
 * Errors: offsetMismatch, storageRefused (a length that contradicts another one), uploadTooLarge.
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
