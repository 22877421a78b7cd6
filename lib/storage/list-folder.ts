import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { fileKey, folderKey } from './keys.ts'
import { pageSize } from './list-all.ts'
import type { ListQuery, ObjectStore } from './object-store.ts'
import { nameOf, root, type StoragePath } from './path.ts'

/** What a listing says of a file or a folder. Folders have no size and no time of their own. */
export interface Entry {
  readonly name: string
  readonly type: 'file' | 'folder'
  /** Bytes. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number | undefined
}

export interface FolderPage {
  readonly contents: readonly Entry[]
  /** Where to go on; undefined at the end. */
  readonly cursor: string | undefined
}

export interface PageQuery {
  readonly limit: number | undefined
  readonly cursor: string | undefined
}

/** How much a folder may hold for its listing to be sorted by name as a whole, and how much one page shows at most. */
const wholeFolder = 10_000

/** In a whole folder a position is a name; in a larger one it is a key, as the store sorts it. */
interface Position {
  readonly by: 'name' | 'key'
  readonly after: string
}

const writeCursor = ({ by, after }: Position): string => Buffer.from(`${by}:${after}`).toString('base64url')

/** Errors: storageRefused. */
const readCursor = (cursor: string): Position => {
  const [, by, after] = /^(name|key):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if ((by !== 'name' && by !== 'key') || after === undefined) {
    throw new ServiceError('storageRefused', { message: 'The cursor is none of ours. Begin the listing anew.' })
  }
  return { by, after }
}

/** By code point, as the keys are sorted. */
const byName = (a: Entry, b: Entry): number => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))

const readEntries = async (store: ObjectStore, query: Omit<ListQuery, 'limit'>, most: number) => {
  const { prefix } = query
  const entries: Entry[] = []
  let after = query.after
  do {
    const limit = Math.min(most - entries.length, pageSize)
    const { objects, folders, next } = await store.list({ ...query, after, limit })
    for (const { key, size, modified } of objects) {
      // The folder itself is not in it.
      if (key !== prefix) entries.push({ name: key.slice(prefix.length), type: 'file', size, modified })
    }
    for (const key of folders) {
      entries.push({ name: key.slice(prefix.length, -1), type: 'folder', size: 0, modified: undefined })
    }
    after = next
  } while (after !== undefined && entries.length < most)
  return { entries: entries.sort(byName), next: after }
}

const pageByKey = async (store: ObjectStore, prefix: string, limit: number, after?: string): Promise<FolderPage> => {
  const { entries, next } = await readEntries(store, { prefix, folded: true, after: after && prefix + after }, limit)
  return { contents: entries, cursor: next && writeCursor({ by: 'key', after: next.slice(prefix.length) }) }
}

/** What a folder holds, sorted by name: all of it, or page by page. Errors: storageRefused (cursor). */
export const listFolder = async (
  store: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  { limit = wholeFolder, cursor }: PageQuery,
): Promise<FolderPage> => {
  const prefix = folderKey('live', site, folder)
  const position = cursor === undefined ? undefined : readCursor(cursor)
  const size = Math.min(limit, wholeFolder)
  if (position?.by === 'key') return pageByKey(store, prefix, size, position.after)
  const { entries, next } = await readEntries(store, { prefix, folded: true }, wholeFolder)
  // A folder may have outgrown what is sorted as a whole since its listing began. What is behind a name then has a key behind it, too.
  if (next !== undefined) return pageByKey(store, prefix, size, position?.after)
  const start = position
    ? entries.findIndex(({ name }) => Buffer.compare(Buffer.from(name), Buffer.from(position.after)) > 0)
    : 0
  const contents = start < 0 ? [] : entries.slice(start, start + size)
  const last = contents.at(-1)
  const isEnd = last === undefined || last === entries.at(-1)
  return { contents, cursor: isEnd ? undefined : writeCursor({ by: 'name', after: last.name }) }
}

/** What a path names. Errors: fileUnknown. */
export const describeEntry = async (store: ObjectStore, site: SiteId, path: StoragePath): Promise<Entry> => {
  const info = path === root ? undefined : await store.find(fileKey('live', site, path))
  const name = nameOf(path)
  if (info) return { name, type: 'file', size: info.size, modified: info.modified }
  if (path === root || (await store.exists(folderKey('live', site, path)))) {
    return { name, type: 'folder', size: 0, modified: undefined }
  }
  throw new ServiceError('fileUnknown')
}
