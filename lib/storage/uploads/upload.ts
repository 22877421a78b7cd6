import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { storageRefused } from '../refusals.ts'

/**
 * `parts` contains the entity tag of each whole part, and is empty when the bytes are in one piece. `tail` names the
 * bytes after the parts.
 */
export interface Holding {
  readonly name: string
  readonly parts: readonly string[]
  readonly tail: string | null
}

export interface Target {
  readonly path: string
  readonly folder?: string | undefined
  readonly asDraft: boolean
  readonly keepsDraft?: boolean
  /** The caller sends the parts to the store directly. */
  readonly isDirect?: boolean
  readonly key: string
  readonly contentType: string
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string | undefined
}

/** Times are in milliseconds since the epoch, sizes in bytes. */
export interface Upload {
  readonly id: string
  readonly site: SiteId
  readonly user: string
  readonly target: Target
  readonly metadata: string
  readonly limit: number
  readonly length: number | null
  readonly offset: number
  /** False if an upload has all of its bytes, but its file is not placed yet. */
  readonly isComplete: boolean
  readonly created: number
  readonly expires: number
  readonly holding: Holding | null
}

/** The durable bytes of an append so far: their number and their holding. The store keeps both up to date. */
export interface Durable {
  size: number
  holding: Holding
}

export type Progress = Pick<Upload, 'offset' | 'length' | 'expires'> & { readonly holding: Holding }

export const mostOpen = 1_000

const day = 24 * 60 * 60 * 1000

const openFor = day
const oldest = 6 * day
const rememberedFor = day

/** The bytes of a direct upload do not pass through the service, so they cannot extend its time. */
export const firstExpiryOf = (created: number, isDirect: boolean): number => created + (isDirect ? oldest : openFor)

export const expiryOfComplete = (now: number): number => now + rememberedFor

export const progressOf = (upload: Upload, { size, holding }: Durable, now: number): Progress => ({
  offset: upload.offset + size,
  length: upload.length,
  expires: Math.min(now + openFor, upload.created + oldest),
  holding,
})

export const isWaiting = ({ length, offset, isComplete }: Upload): boolean => !isComplete && offset === length

/** S-122: the bytes that the quota counts for the upload. */
export const countedBytes = ({ length, offset }: Pick<Upload, 'length' | 'offset'>): number => length ?? offset

export const holdingOf = ({ id, holding }: Pick<Upload, 'id' | 'holding'>): Holding => {
  if (!holding) throw new Error(`The record of the upload ${id} does not say where its bytes are`)
  return holding
}

const tooLong = (limit: number): ServiceError =>
  new ServiceError('uploadTooLarge', {
    message: `The upload is larger than the ${limit} bytes allowed here. Send a smaller file.`,
  })

/** The bytes of an append go beyond the declared length, or beyond the largest upload. */
export const beyondEnd = ({ length, limit }: Pick<Upload, 'length' | 'limit'>): ServiceError =>
  length === null
    ? tooLong(limit)
    : new ServiceError('uploadTooLarge', {
        message: `The upload has ${length} bytes in all, and these bytes would exceed its end. Send only the rest.`,
      })

export const requireLength = (length: number | null, limit: number): void => {
  if (length !== null && length > limit) throw tooLong(limit)
}

export const checksumAlgorithms = ['sha256', 'sha1', 'md5'] as const

export interface Checksum {
  readonly algorithm: (typeof checksumAlgorithms)[number]
  readonly value: Buffer
}

export interface Addition {
  readonly offset: number
  readonly length?: number | undefined
  readonly declared?: number | undefined
  readonly checksum?: Checksum | undefined
  readonly content: AsyncIterable<Uint8Array>
}

export type Announcement = Omit<Addition, 'content'>

// "Once set the length MUST NOT be changed" (tus 1.0). Errors: storageRefused, uploadTooLarge.
const lengthFrom = (upload: Upload, given: number | undefined): number | null => {
  if (given === undefined) return upload.length
  if (upload.length !== null && upload.length !== given) {
    throw storageRefused(`The length of the upload is ${upload.length} bytes and can no longer change.`)
  }
  if (given < upload.offset) {
    throw storageRefused(`The upload already has ${upload.offset} bytes, so its length cannot be ${given}.`)
  }
  requireLength(given, upload.limit)
  return given
}

export const admitAppend = (upload: Upload, { offset, length: given, declared = 0 }: Announcement) => {
  if (offset !== upload.offset) {
    throw new ServiceError('offsetMismatch', {
      message: `The upload is at offset ${upload.offset}, not at ${offset}. Continue at ${upload.offset}.`,
    })
  }
  const length = lengthFrom(upload, given)
  const room = (length ?? upload.limit) - offset
  if (declared > room) throw beyondEnd({ ...upload, length })
  return { grown: { ...upload, length, holding: holdingOf(upload) }, room }
}
