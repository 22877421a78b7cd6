import { onTestFinished } from 'vitest'
import { listAll } from '../../../lib/storage/many-objects.ts'
import { editions } from '../../../lib/storage/path.ts'
import type { Answer } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { tusOver, uploadIn } from '../uploads/service.ts'
import type { StorageOptions, StorageUnderTest } from './service.ts'

type Uploads = Map<string, { readonly length: number | undefined; offset: number }>

const minute = 60_000

/** A storage with tus requests and a clock of the test. If a quota is given, the site has it from the first byte on. */
export const limited = async <Storage extends StorageUnderTest>(
  open: (options: StorageOptions) => Promise<Storage>,
  quota?: number,
) => {
  // The clock of S3 cannot be set, and the service compares it with the times of removals.
  const later = { wall: 0, monotonic: 0 }
  const storage = await open({
    clock: { wall: () => Date.now() + later.wall, monotonic: () => performance.now() + later.monotonic },
  })
  onTestFinished(() => storage.close())
  const { site, stores, deps } = storage

  /** Waits until every process knows the quota. */
  const setQuota = async (bytes: number | undefined): Promise<void> => {
    await stores.sites.setQuota(site, bytes, entry)
    later.monotonic += minute
  }
  if (quota !== undefined) {
    await stores.usage.prepare(site, true)
    await setQuota(quota)
  }

  const uploads: Uploads = new Map()
  const tus = tusOver(storage)

  const create = async (name: string, length: number | undefined): Promise<Answer> => {
    const answer = await tus.create(name, length)
    if (answer.status === 201) uploads.set(uploadIn(answer), { length, offset: 0 })
    return answer
  }

  /** Adds bytes. Completes the upload when its length is reached, or declared as `end`. */
  const append = async (upload: string, body: string, end?: number): Promise<Answer> => {
    const known = uploads.get(upload)
    if (!known) throw new Error(`There is no upload ${upload}`)
    const headers = end === undefined ? {} : { 'Upload-Length': String(end) }
    const answer = await tus.patch(upload, known.offset, body, { headers })
    if (answer.status === 204) known.offset += body.length
    if (answer.status === 204 && known.offset === (end ?? known.length)) uploads.delete(upload)
    return answer
  }

  const fileBytes = async (): Promise<number> => {
    let sum = 0
    for (const edition of editions) {
      for await (const objects of listAll(deps.files, `${edition}/${site}/`)) {
        for (const { size } of objects) sum += size
      }
    }
    return sum
  }

  return {
    ...storage,
    setQuota,
    fileBytes,
    pass(milliseconds: number): void {
      later.wall += milliseconds
      later.monotonic += milliseconds
    },
    uploads,
    create,
    append,
    async cancel(upload: string): Promise<Answer> {
      const answer = await tus.call('DELETE', upload)
      if (answer.status === 204) uploads.delete(upload)
      return answer
    },
    /** The used bytes that the service counts for the site. */
    used: () => stores.usage.bytesOf(site),
    /** The bytes of all files and open uploads of the site, counted from the files and uploads themselves. */
    async bytes(): Promise<number> {
      const open = [...uploads.values()].map(({ length, offset }) => length ?? offset)
      return open.reduce((sum, one) => sum + one, await fileBytes())
    },
  }
}
