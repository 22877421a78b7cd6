import { ServiceError } from '../../core/errors.ts'
import { isMissing } from '../../core/system-failures.ts'
import { createFingerprint, partLength } from '../../storage/content.ts'
import { expiryOfComplete, type Holding, type UploadParts, type WholeUpload } from '../../storage/uploads/upload.ts'
import type { Database } from '../sqlite/database.ts'
import { column } from '../sqlite/queries.ts'
import { prepareUploads } from '../tables/uploads.ts'
import { type Blobs, newName } from './blobs.ts'
import type { LocalObjectStore } from './object-store.ts'

interface Deps {
  readonly database: Pick<Database, 'connection' | 'write'>
  readonly blobs: Blobs
  readonly files: Pick<LocalObjectStore, 'adopt'>
  readonly now: () => number
}

const gone = () => new ServiceError('uploadUnknown')

const throwGone = (error: unknown): never => {
  throw isMissing(error) ? gone() : error
}

/**
 * Each upload is a blob, which becomes the blob of the file without a copy. The transaction that places the file also
 * completes the upload, so that a crash cannot separate the two.
 */
export const createUploadParts = ({ database, blobs, files, now }: Deps): UploadParts => {
  const { complete, get } = prepareUploads(database.connection)

  const cut = ({ name }: Holding, length: number): Promise<void> => blobs.cut(name, length).catch(throwGone)

  // Bytes after the last offset do not belong to the upload.
  const read = async function* ({ length, holding }: WholeUpload): AsyncGenerator<Uint8Array, void> {
    if (length === 0) return
    await cut(holding, length)
    const content = blobs.read(holding.name, length, { first: 0, last: length - 1 })
    if (!content) throw gone()
    yield* content
  }

  const fingerprintOf = async (upload: WholeUpload): Promise<string | null> => {
    if (upload.length > partLength) return null
    const making = createFingerprint()
    for await (const chunk of read(upload)) making.update(chunk)
    return making.digest()
  }

  return {
    begin: async () => ({ name: newName(), parts: [], tail: null }),

    async append({ holding }, offset, content, durable, isOver) {
      const written = await blobs.append(holding.name, offset, content, { kept: durable, isOver }).catch(throwGone)
      return { ...written, holding }
    },

    cut,
    read,

    takeOver: async ({ holding }) => holding,

    async whole(upload) {
      const { id, target, length, holding } = upload
      // An upload without bytes may have no blob.
      if (length === 0) await blobs.append(holding.name, 0, read(upload), {})
      else await cut(holding, length)
      return files.adopt({
        blob: holding.name,
        size: length,
        contentType: target.contentType,
        fingerprint: await fingerprintOf(upload),
        alongside() {
          if (complete(expiryOfComplete(now()), id) === 1) return
          throw get(id) ? new ServiceError('unavailable') : gone()
        },
      })
    },

    remove: ({ holding }) => blobs.remove([holding.name]),
  }
}

/** Only frees space: the record of an upload decides whether the upload has expired. */
export const createUploadSweep = ({ database, blobs, now }: Omit<Deps, 'files'>) => {
  const remove = column<string | null>('DELETE FROM uploads WHERE expires <= ? RETURNING blob')(database.connection)
  return async () => {
    const names = await database.write(() => remove(now()))
    await blobs.remove(names.filter((name) => name !== null))
  }
}
