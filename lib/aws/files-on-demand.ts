import type { ObjectStore } from '../storage/object-store.ts'
import type { ObservedRemovals } from './dynamodb/folder-removals.ts'
import type { RecordChange } from './dynamodb/journal.ts'

/**
 * The files of one data centre for an operator. Few commands need these files, so the first call loads the S3 client.
 */
export const createFilesOnDemand = (
  bucket: string,
  region: string,
  { removals, record }: { readonly removals: ObservedRemovals; readonly record: RecordChange },
): Pick<ObjectStore, 'keptBelow' | 'list' | 'exists' | 'remove'> => {
  const open = async () => {
    const [{ createS3Clients }, { createS3ObjectStore }] = await Promise.all([
      import('./s3/bucket.ts'),
      import('./s3/s3-object-store.ts'),
    ])
    return createS3ObjectStore({ ...createS3Clients({ region }), bucket, removals, record })
  }
  let files: ReturnType<typeof open> | undefined
  const opened = () => {
    files ??= open()
    return files
  }
  return {
    keptBelow: async (prefix) => (await opened()).keptBelow(prefix),
    list: async (query) => (await opened()).list(query),
    exists: async (prefix) => (await opened()).exists(prefix),
    remove: async (...removal) => (await opened()).remove(...removal),
  }
}
