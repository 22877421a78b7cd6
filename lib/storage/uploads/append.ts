import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import type { Lease } from './lease.ts'
import { type Announcement, admitAppend, expiryOf, type Holding, holdingOf, tooLong, type Upload } from './upload.ts'
import type { Progress, UploadParts, UploadRecords } from './upload-stores.ts'

export const checksumAlgorithms = ['sha256', 'sha1', 'md5'] as const
type ChecksumAlgorithm = (typeof checksumAlgorithms)[number]

export interface Checksum {
  readonly algorithm: ChecksumAlgorithm
  readonly value: Buffer
}

// Errors: chunkMismatch, after the last byte.
async function* checked(
  content: AsyncIterable<Uint8Array>,
  { algorithm, value }: Checksum,
): AsyncGenerator<Uint8Array, void> {
  const hash = createHash(algorithm)
  for await (const chunk of content) {
    hash.update(chunk)
    yield chunk
  }
  if (!hash.digest().equals(value)) throw new ServiceError('chunkMismatch')
}

export interface Addition extends Announcement {
  readonly content: AsyncIterable<Uint8Array>
  readonly checksum?: Checksum | undefined
}

interface AppendDeps {
  readonly records: Pick<UploadRecords, 'advance' | 'note' | 'get'>
  readonly parts: Pick<UploadParts<unknown>, 'append'>
  readonly now: () => number
}

async function* within(
  content: AsyncIterable<Uint8Array>,
  room: number,
  end: number,
): AsyncGenerator<Uint8Array, void> {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > room) throw tooLong(end)
    yield chunk
  }
}

async function* underLease(content: AsyncIterable<Uint8Array>, lease: Lease): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of content) {
    if (lease.isOver()) throw new ServiceError('unavailable')
    yield chunk
  }
}

const trackBreak = (content: AsyncIterable<Uint8Array>) => {
  let isBroken = false
  return {
    isBroken: () => isBroken,
    content: (async function* () {
      try {
        yield* content
      } catch (error) {
        isBroken = true
        throw error
      }
    })(),
  }
}

/**
 * Appends bytes under a lease and releases it unless the upload is whole. Bytes before a broken connection stay. Wrong
 * or too many bytes are dropped; without a declared length the first of too many may stay. Errors: offsetMismatch,
 * storageRefused, uploadTooLarge, chunkMismatch, uploadUnknown (cancelled meanwhile), uploadLocked (the lease is lost),
 * unavailable, those of the content.
 */
export const append = async (
  { records, parts, now }: AppendDeps,
  upload: Upload,
  lease: Lease,
  addition: Addition,
): Promise<Upload> => {
  const { holder } = lease
  const { checksum, content } = addition
  const { length, room } = admitAppend(upload, addition)
  const holding = holdingOf(upload)
  const progressAt = (size: number, held: Holding): Progress => ({
    offset: upload.offset + size,
    length,
    expires: expiryOf(upload, now()),
    holding: held,
  })
  const coming = trackBreak(underLease(content, lease))
  const bounded = within(coming.content, room, upload.offset + room)
  const watch = {
    isOver: lease.isOver,
    // Bytes without a complete check do not count.
    kept(size: number, held: Holding) {
      if (!checksum) void records.note(upload.id, holder, progressAt(size, held)).catch(() => {})
    },
  }
  const appended = await parts.append(
    { ...upload, length, holding },
    upload.offset,
    checksum ? checked(bounded, checksum) : bounded,
    watch,
  )
  const stays = appended.failure === undefined || (coming.isBroken() && appended.size > 0 && !checksum)
  if (!stays) throw appended.failure
  const progress = progressAt(appended.size, appended.holding)
  // With the last byte there is more to do.
  const keeps = progress.offset === length
  await lease.settled()
  if (!(await records.advance(upload.id, holder, progress, keeps))) {
    throw new ServiceError((await records.get(upload.id)) ? 'uploadLocked' : 'uploadUnknown')
  }
  if (appended.failure !== undefined) throw appended.failure
  return { ...upload, ...progress }
}
