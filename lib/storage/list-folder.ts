import type { SiteId } from '../core/ids.ts'
import { readCursor, writeCursor } from './listing-cursor.ts'
import type { ListQuery, ObjectStore } from './object-store.ts'
import { longestListing } from './object-store.ts'
import { folderKey, type StoragePath } from './path.ts'

export interface Entry {
  readonly name: string
  readonly type: 'file' | 'folder'
  /** Bytes. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number | undefined
}

export interface FolderListing {
  readonly contents: readonly Entry[]
  /** Undefined at the end. */
  readonly cursor: string | undefined
}

export interface FolderQuery {
  readonly limit: number | undefined
  readonly cursor: string | undefined
  readonly countThatFit: (entries: readonly Entry[]) => number
}

const wholeFolder = 10_000

const positions = ['name', 'key'] as const

/** Moves surrogates behind all other code units, where the characters that they stand for belong. */
const rankOf = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

export const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const difference = a.charCodeAt(at) - b.charCodeAt(at)
    if (difference !== 0) return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
  }
  return a.length - b.length
}

const byName = (a: Entry, b: Entry): number => compareText(a.name, b.name)

const keyOf = ({ name, type }: Entry): string => (type === 'folder' ? `${name}/` : name)

const byKey = (a: Entry, b: Entry): number => compareText(keyOf(a), keyOf(b))

const readEntries = async (store: ObjectStore, query: Omit<ListQuery, 'limit'>, most: number) => {
  const { prefix } = query
  const entries: Entry[] = []
  let after = query.after
  do {
    const limit = Math.min(most - entries.length, longestListing)
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
  return { entries, next: after }
}

type FittingQuery = Pick<FolderQuery, 'countThatFit'> & { readonly size: number; readonly after: string | undefined }

const listByKey = async (
  store: ObjectStore,
  prefix: string,
  { size, after, countThatFit }: FittingQuery,
): Promise<FolderListing> => {
  const { entries, next } = await readEntries(store, { prefix, folded: true, after: after && prefix + after }, size)
  // What is left out must lie behind the cursor, whatever its name is.
  const contents = entries.sort(byKey).slice(0, countThatFit(entries))
  const last = contents.at(-1)
  const isEnd = last === undefined || (next === undefined && contents.length === entries.length)
  return { contents: contents.sort(byName), cursor: isEnd ? undefined : writeCursor({ by: 'key', after: keyOf(last) }) }
}

const listByName = (all: readonly Entry[], { size, after, countThatFit }: FittingQuery): FolderListing => {
  const start = after === undefined ? 0 : all.findIndex(({ name }) => compareText(name, after) > 0)
  const some = start < 0 ? [] : all.slice(start, start + size)
  const contents = some.slice(0, countThatFit(some))
  const last = contents.at(-1)
  const isEnd = last === undefined || last === all.at(-1)
  return { contents, cursor: isEnd ? undefined : writeCursor({ by: 'name', after: last.name }) }
}

/** Errors: storageRefused (cursor). */
export const listFolder = async (
  store: ObjectStore,
  site: SiteId,
  folder: StoragePath,
  { limit = wholeFolder, cursor, countThatFit }: FolderQuery,
): Promise<FolderListing> => {
  const prefix = folderKey('live', site, folder)
  const position = cursor === undefined ? undefined : readCursor(cursor, positions)
  const query = { size: Math.min(limit, wholeFolder), after: position?.after, countThatFit }
  if (position?.by === 'key') return listByKey(store, prefix, query)
  const { entries, next } = await readEntries(store, { prefix, folded: true }, wholeFolder)
  // A folder may have outgrown what is sorted as a whole since its listing began. What is behind a name then has a key
  // behind it, too.
  return next === undefined ? listByName(entries.sort(byName), query) : listByKey(store, prefix, query)
}
