import { randomBytes } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { type Addition, append } from './append.ts'
import { keepLease, type Lease, type LeaseTerms } from './lease.ts'
import { admitUpload, type PlacementDeps, placeUpload, type Uploader, type UploadRequest } from './placement.ts'
import {
  expiryOf,
  expiryOfComplete,
  holdingOf,
  isExpired,
  isWaiting,
  mostOpen,
  requireLength,
  type Upload,
} from './upload.ts'
import type { UploadRecords, WholeUpload } from './upload-stores.ts'

export interface UploadsDeps extends PlacementDeps {
  readonly records: UploadRecords
  readonly clock: Clock
  readonly lease: LeaseTerms
}

interface Beginning {
  readonly request: UploadRequest
  readonly length: number | null
  readonly metadata: string
  readonly first?: Addition | undefined
}

export type Begun = (upload: Upload) => void

export interface Uploads {
  /**
   * Places an empty upload at once. Leaves nothing when the first bytes are refused. Calls `begun` before the first
   * byte. Errors: those of the destination, uploadTooLarge, storageRefused (too many open uploads), those of `append`.
   */
  create(uploader: Uploader, beginning: Beginning, begun?: Begun): Promise<Upload>
  /**
   * Places a waiting upload again. Errors: uploadUnknown, unavailable (undecided), those of the destination (the upload
   * has ended).
   */
  find(uploader: Uploader, id: string): Promise<Upload>
  /**
   * Places the upload with its last byte. Calls `begun` before the first byte. Errors: those of `append.ts`,
   * uploadUnknown, uploadLocked, unavailable, those of the destination (the upload has ended).
   */
  append(uploader: Uploader, id: string, addition: Addition, begun?: Begun): Promise<Upload>
  /** A file that is in place stays. Errors: uploadUnknown. */
  cancel(uploader: Uploader, id: string): Promise<void>
}

const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status < 500

const newId = (): string => randomBytes(16).toString('hex')

const longestRetryAfter = 5

const retryAfter = (left: number) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.min(Math.ceil(left / 1000), longestRetryAfter))) },
})

const wholeOf = (upload: Upload): WholeUpload => {
  const { id, target, created, offset } = upload
  return { id, target, created, length: offset, holding: holdingOf(upload) }
}

const createCompletion = (deps: UploadsDeps) => {
  const { records, parts, clock } = deps

  const discard = async (id: string): Promise<void> => {
    const holding = await records.remove(id)
    if (holding) await parts.remove({ id, holding })
  }

  const writeComplete = async (upload: Upload): Promise<Upload> => {
    const expires = expiryOfComplete(clock.wall())
    await records.complete(upload.id, expires)
    return { ...upload, isComplete: true, expires, holding: null }
  }

  const complete = async (upload: Upload, uploader: Uploader, lease: Lease): Promise<Upload> => {
    if (lease.isOver()) throw new ServiceError('unavailable')
    try {
      await placeUpload(deps, wholeOf(upload), uploader)
    } catch (error) {
      // The caller is told why it was refused. What is not removed now expires.
      if (isRefusal(error)) await discard(upload.id).catch(() => {})
      throw error
    }
    return writeComplete(upload)
  }

  const completeAgain = async (upload: Upload, uploader: Uploader, lease: Lease): Promise<Upload> =>
    (await parts.isInPlace(wholeOf(upload))) ? writeComplete(upload) : complete(upload, uploader, lease)

  return { discard, complete, completeAgain }
}

type LeaseWork<Result> = (upload: Upload, lease: Lease, markReleased: () => void) => Promise<Result>

const createLeases = ({ records, clock, lease: terms }: UploadsDeps) => ({
  async withLease<Result>(
    { id, offset }: Pick<Upload, 'id' | 'offset'>,
    busy: 'uploadLocked' | 'unavailable',
    work: LeaseWork<Result>,
  ): Promise<Result> {
    const holder = newId()
    const since = clock.monotonic()
    const taken = await records.take(id, offset, holder, terms.lasts)
    if (taken.outcome === 'unknown') throw new ServiceError('uploadUnknown')
    if (taken.outcome === 'moved') throw new ServiceError(busy === 'uploadLocked' ? 'offsetMismatch' : busy)
    if (taken.outcome === 'held') throw new ServiceError(busy, retryAfter(taken.left))
    const lease = keepLease({ records, now: clock.monotonic, terms }, { id, holder, since })
    let isHeld = true
    try {
      return await work(taken.upload, lease, () => {
        isHeld = false
      })
    } finally {
      await lease.end()
      if (isHeld) await records.giveBack(id, holder).catch(() => {})
    }
  },
})

const isEmptyAddition = (upload: Upload, { offset, length, declared }: Addition): boolean =>
  declared === 0 && offset === upload.offset && (length === undefined || length === upload.length)

export const createUploads = (deps: UploadsDeps): Uploads => {
  const { records, parts, clock } = deps
  const now = clock.wall
  const { discard, complete, completeAgain } = createCompletion(deps)
  const { withLease } = createLeases(deps)

  // A store may remove expired uploads late.
  const known = async ({ site, author }: Uploader, id: string): Promise<Upload> => {
    const upload = await records.get(id)
    if (upload && isExpired(upload, now())) await discard(id).catch(() => {})
    else if (upload?.site === site && upload.user === author.actor) return upload
    throw new ServiceError('uploadUnknown')
  }

  const settle = (upload: Upload, uploader: Uploader): Promise<Upload> =>
    isWaiting(upload)
      ? withLease(upload, 'unavailable', (held, lease) => completeAgain(held, uploader, lease))
      : Promise.resolve(upload)

  const add = ({ id }: Upload, uploader: Uploader, addition: Addition): Promise<Upload> =>
    withLease({ id, offset: addition.offset }, 'uploadLocked', async (held, lease, markReleased) => {
      const grown = await append({ records, parts, now }, held, lease, addition)
      if (isWaiting(grown)) return complete(grown, uploader, lease)
      markReleased()
      return grown
    })

  const addTo = async (upload: Upload, uploader: Uploader, addition: Addition): Promise<Upload> => {
    // No upload ever gets there: a store is not asked for a number that it may not be able to hold.
    if (addition.offset > upload.limit) throw new ServiceError('offsetMismatch')
    if (isEmptyAddition(upload, addition)) return settle(upload, uploader)
    return add(upload, uploader, addition)
  }

  return {
    async create(uploader, { request, length, metadata, first }, begun = () => {}) {
      const { target, limit } = await admitUpload(deps, request, uploader)
      requireLength(length, limit)
      const created = now()
      const upload: Upload = {
        id: newId(),
        site: uploader.site,
        user: uploader.author.actor,
        target,
        metadata,
        limit,
        length,
        offset: 0,
        isComplete: false,
        created,
        expires: expiryOf({ created }, created),
        holding: await parts.begin(target),
      }
      if (!(await records.create(upload, mostOpen, created))) {
        throw new ServiceError('storageRefused', {
          message: `You have ${mostOpen} open uploads on this site. Complete or cancel some of them first.`,
        })
      }
      begun(upload)
      try {
        return await (first ? addTo(upload, uploader, first) : settle(upload, uploader))
      } catch (error) {
        // Nobody has been told of it.
        await discard(upload.id).catch(() => {})
        throw error
      }
    },

    find: async (uploader, id) => settle(await known(uploader, id), uploader),

    async append(uploader, id, addition, begun = () => {}) {
      const upload = await known(uploader, id)
      begun(upload)
      return addTo(upload, uploader, addition)
    },

    cancel: async (uploader, id) => discard((await known(uploader, id)).id),
  }
}
