import { createHash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
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

export interface Addition extends Announcement {
  readonly content: AsyncIterable<Uint8Array>
  readonly checksum?: Checksum | undefined
}

interface AppendDeps {
  readonly uploadRecords: Pick<UploadRecords, 'advance' | 'note' | 'get'>
  readonly uploadParts: Pick<UploadParts<unknown>, 'append'>
  readonly clock: Pick<Clock, 'wall'>
}

/**
 * Appends bytes under a lease and releases it unless the upload is whole. Bytes before a broken connection stay. Wrong
 * or too many bytes are dropped; without a declared length the first of too many may stay.
 */
export const append = async (
  { uploadRecords, uploadParts, clock }: AppendDeps,
  upload: Upload,
  lease: Lease,
  addition: Addition,
): Promise<Upload> => {
  const { id } = upload
  const { holder } = lease
  const { checksum } = addition
  const { length, room } = admitAppend(upload, addition)
  const holding = holdingOf(upload)
  const progressAt = (size: number, held: Holding): Progress => ({
    offset: upload.offset + size,
    length,
    expires: expiryOf(upload, clock.wall()),
    holding: held,
  })
  let wrong: ServiceError | undefined
  const refuseWrong = (error: ServiceError | false | undefined): void => {
    if (!error) return
    wrong = error
    throw error
  }
  async function* admitted(): AsyncGenerator<Uint8Array, void> {
    const hash = createHash(checksum?.algorithm ?? 'md5')
    let size = 0
    for await (const chunk of addition.content) {
      if (lease.isOver()) throw new ServiceError('unavailable')
      size += chunk.length
      refuseWrong(size > room && tooLong(upload.offset + room))
      if (checksum) hash.update(chunk)
      yield chunk
    }
    refuseWrong(checksum && !hash.digest().equals(checksum.value) && new ServiceError('chunkMismatch'))
  }
  const watch = {
    isOver: lease.isOver,
    // Bytes without a complete check do not count.
    kept(size: number, held: Holding) {
      if (!checksum) void uploadRecords.note(id, holder, progressAt(size, held)).catch(() => {})
    },
  }
  const {
    size,
    holding: held,
    failure,
  } = await uploadParts.append({ ...upload, length, holding }, upload.offset, admitted(), watch)
  const stays = failure === undefined || (!wrong && size > 0 && !checksum)
  if (!stays) throw failure
  const progress = progressAt(size, held)
  await lease.settled()
  // After the last byte the file is placed, so the lease stays.
  if (!(await uploadRecords.advance(id, holder, progress, progress.offset === length))) {
    throw new ServiceError((await uploadRecords.get(id)) ? 'uploadLocked' : 'uploadUnknown')
  }
  if (failure !== undefined) throw failure
  return { ...upload, ...progress }
}
