import type { Answer } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { uploadIn } from '../uploads/service.ts'
import type { StorageOptions, StorageUnderTest } from './service.ts'

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
  const { site, stores } = storage

  /** Waits until every process knows the quota. */
  const setQuota = async (bytes: number | undefined): Promise<void> => {
    await stores.sites.setQuota(site, bytes, entry)
    later.monotonic += minute
  }
  if (quota !== undefined) {
    await stores.usage.prepare(site, true)
    await setQuota(quota)
  }

  const uploads: string[] = []

  return {
    ...storage,
    setQuota,
    fileBytes: async () => (await storage.objects()).reduce((sum, { size }) => sum + size, 0),
    pass(milliseconds: number): void {
      later.wall += milliseconds
      later.monotonic += milliseconds
    },
    /** All uploads that were created. */
    uploads,
    async create(name: string, length: number | undefined, folder = ''): Promise<Answer> {
      const answer = await storage.create(name, length, { folder })
      if (answer.status === 201) uploads.push(uploadIn(answer))
      return answer
    },
    append: (upload: string, body: string): Promise<Answer> => storage.patch(upload, 0, body),
    cancel: (upload: string): Promise<Answer> => storage.tus('DELETE', upload),
    /** The used bytes that the service counts for the site. */
    used: () => stores.usage.bytesOf(site),
  }
}
