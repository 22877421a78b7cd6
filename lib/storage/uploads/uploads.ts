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
import type { WholeUpload } from './upload-parts.ts'
import type { UploadRecords } from './upload-records.ts'

export interface UploadsDeps extends PlacementDeps {
  readonly records: UploadRecords
  readonly clock: Clock
  readonly lease: LeaseTerms
}

interface Beginning {
  readonly request: UploadRequest
  /** Null while nobody knows it. */
  readonly length: number | null
  readonly metadata: string
  /** The first bytes, where they come along. */
  readonly first?: Addition | undefined
}

export type Begun = (upload: Upload) => void

export interface Uploads {
  /**
   * Begins an upload; one without any byte to come is put in place at once. Nothing is left of one whose first bytes
   * are refused. `begun` is told of it before the first byte. Errors: those of the destination, uploadTooLarge,
   * storageRefused (too many open uploads), those of `append`.
   */
  create(uploader: Uploader, beginning: Beginning, begun?: Begun): Promise<Upload>
  /**
   * The upload as it is: never complete before it is in place, which is tried again when it failed in passing. Errors:
   * uploadUnknown, unavailable (that is not decided yet), those of the destination (then the upload has ended).
   */
  find(uploader: Uploader, id: string): Promise<Upload>
  /**
   * Adds bytes at an offset, and puts the upload in place with the last of them. `begun` is told of the upload before
   * the first byte. Errors: as `lib/storage/uploads/append.ts` lists them, uploadUnknown, appendGoing, unavailable,
   * those of the destination (then the upload has ended).
   */
  append(uploader: Uploader, id: string, addition: Addition, begun?: Begun): Promise<Upload>
  /** Ends an upload: what has come of it goes, what is in place stays. Errors: uploadUnknown. */
  cancel(uploader: Uploader, id: string): Promise<void>
}

const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status < 500

const newId = (): string => randomBytes(16).toString('hex')

/** After how many seconds at the most one should come back for an upload that somebody has. */
const patience = 5

const comeBack = (left: number) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.min(Math.ceil(left / 1000), patience))) },
})

const wholeOf = (upload: Upload): WholeUpload => {
  const { id, target, created, offset } = upload
  return { id, target, created, length: offset, holding: holdingOf(upload) }
}

export const createUploads = (deps: UploadsDeps): Uploads => {
  const { records, parts, clock } = deps
  const now = clock.wall

  const discard = async (id: string): Promise<void> => {
    const holding = await records.remove(id)
    if (holding) await parts.remove({ id, holding })
  }

  /** A store may be late with removing expired uploads. */
  const known = async ({ site, author }: Uploader, id: string): Promise<Upload> => {
    const upload = await records.get(id)
    if (upload && isExpired(upload, now())) await discard(id).catch(() => {})
    else if (upload?.site === site && upload.user === author.actor) return upload
    throw new ServiceError('uploadUnknown')
  }

  const writeComplete = async (upload: Upload): Promise<Upload> => {
    const expires = expiryOfComplete(now())
    await records.complete(upload.id, expires)
    return { ...upload, isComplete: true, expires, holding: null }
  }

  /**
   * Puts an upload in place that its holder has. A refusal is its end. Errors: unavailable when somebody else may have
   * it by now.
   */
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

  const holding = async <Result>(
    { id, offset }: Pick<Upload, 'id' | 'offset'>,
    busy: 'appendGoing' | 'unavailable',
    work: (upload: Upload, lease: Lease, givenBack: () => void) => Promise<Result>,
  ): Promise<Result> => {
    const holder = newId()
    const since = clock.monotonic()
    const taken = await records.take(id, offset, holder, deps.lease.lasts)
    if (taken.outcome === 'unknown') throw new ServiceError('uploadUnknown')
    if (taken.outcome === 'moved') throw new ServiceError(busy === 'appendGoing' ? 'offsetMismatch' : busy)
    if (taken.outcome === 'held') throw new ServiceError(busy, comeBack(taken.left))
    const lease = keepLease({ records, now: clock.monotonic, terms: deps.lease }, { id, holder, since })
    let isHeld = true
    try {
      return await work(taken.upload, lease, () => {
        isHeld = false
      })
    } finally {
      await lease.end()
      if (isHeld) await records.giveBack(id, holder).catch(() => {})
    }
  }

  const decided = (upload: Upload, uploader: Uploader): Promise<Upload> =>
    isWaiting(upload)
      ? holding(upload, 'unavailable', (held, lease) => completeAgain(held, uploader, lease))
      : Promise.resolve(upload)

  const added = ({ id }: Upload, uploader: Uploader, addition: Addition): Promise<Upload> =>
    holding({ id, offset: addition.offset }, 'appendGoing', async (held, lease, givenBack) => {
      const grown = await append({ records, parts, now }, held, lease, addition)
      if (isWaiting(grown)) return complete(grown, uploader, lease)
      givenBack()
      return grown
    })

  const bringsNothing = (upload: Upload, { offset, length, declared }: Addition): boolean =>
    declared === 0 && offset === upload.offset && (length === undefined || length === upload.length)

  const addTo = async (upload: Upload, uploader: Uploader, addition: Addition): Promise<Upload> => {
    // No upload ever gets there: a store is not asked for a number that it may not be able to hold.
    if (addition.offset > upload.limit) throw new ServiceError('offsetMismatch')
    if (bringsNothing(upload, addition)) return decided(upload, uploader)
    return added(upload, uploader, addition)
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
        return await (first ? addTo(upload, uploader, first) : decided(upload, uploader))
      } catch (error) {
        // Nobody has been told of it.
        await discard(upload.id).catch(() => {})
        throw error
      }
    },

    find: async (uploader, id) => decided(await known(uploader, id), uploader),

    async append(uploader, id, addition, begun = () => {}) {
      const upload = await known(uploader, id)
      begun(upload)
      return addTo(upload, uploader, addition)
    },

    cancel: async (uploader, id) => discard((await known(uploader, id)).id),
  }
}
