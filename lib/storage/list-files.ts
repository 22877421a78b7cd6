import type { SiteId } from '../core/ids.ts'
import { readCursor, writeCursor } from './listing-cursor.ts'
import { type ListedObject, longestListing, type ObjectStore } from './object-store.ts'
import { folderKey, type StoragePath } from './path.ts'

export interface FileBelow extends Omit<ListedObject, 'key'> {
  readonly path: string
}

interface FilesQuery {
  readonly limit: number | undefined
  readonly cursor: string | undefined
  readonly countThatFit: (files: readonly FileBelow[]) => number
}

interface FilesListing {
  readonly contents: readonly FileBelow[]
  /** Undefined at the end. */
  readonly cursor: string | undefined
}

const mostFiles = 1_000

const leastKeys = 100

const mostListings = 10

/** Every live file below a folder, in the order of the keys, page by page (S-80). Errors: storageRefused (cursor). */
export const listFiles = async (
  store: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  { limit = mostFiles, cursor, countThatFit }: FilesQuery,
): Promise<FilesListing> => {
  const prefix = folderKey('live', site, folder)
  const size = Math.min(limit, mostFiles)
  const found: FileBelow[] = []
  let after = cursor === undefined ? undefined : prefix + readCursor(cursor, ['path']).after
  let listings = 0
  do {
    const keys = Math.min(Math.max(size - found.length, leastKeys), longestListing)
    const { objects, next } = await store.list({ prefix, folded: false, after, limit: keys })
    for (const { key, ...file } of objects) {
      if (!key.endsWith('/')) found.push({ ...file, path: key.slice(prefix.length) })
    }
    after = next
    listings += 1
  } while (after !== undefined && found.length < size && listings < mostListings)
  const some = found.slice(0, size)
  const contents = some.slice(0, countThatFit(some))
  const position = contents.length === found.length ? after?.slice(prefix.length) : contents.at(-1)?.path
  return { contents, cursor: position === undefined ? undefined : writeCursor({ by: 'path', after: position }) }
}
