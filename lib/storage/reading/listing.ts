import { compareText } from '../../core/names.ts'
import { foreignCursor, readCursor, viewsThatFit, writeCursor } from '../../core/pages.ts'
import type { Deadline } from '../../core/time.ts'
import { type ListedObject, longestListing, type NamePage, type NameQuery, type ObjectStore } from '../object-store.ts'
import {
  folderKey,
  foldersTowards,
  foldForSearch,
  isInScope,
  nameOf,
  ownFoldersBelow,
  pathIn,
  type Scope,
  type StoragePath,
} from '../path.ts'

export interface Entry {
  readonly name: string
  readonly type: 'file' | 'folder'
  readonly size: number
  readonly modified: number | undefined
}

export interface Page<Item> {
  readonly contents: readonly Item[]
  readonly cursor: string | undefined
}

interface PageQuery<Item, View> {
  readonly limit: number | undefined
  readonly cursor: string | undefined
  readonly viewOf: (item: Item) => View
}

const wholeFolder = 10_000

const byName = (a: Entry, b: Entry): number => compareText(a.name, b.name)

const keyOf = ({ name, type }: Entry): string => (type === 'folder' ? `${name}/` : name)

const readEntries = async (store: ObjectStore, prefix: string, most: number, start?: string) => {
  const entries: Entry[] = []
  let after = start
  do {
    const limit = Math.min(most - entries.length, longestListing)
    const { objects, folders, next } = await store.list({ prefix, folded: true, after, limit })
    for (const { key, size, modified } of objects) {
      if (key !== prefix) entries.push({ name: key.slice(prefix.length), type: 'file', size, modified })
    }
    for (const key of folders) {
      entries.push({ name: key.slice(prefix.length, -1), type: 'folder', size: 0, modified: undefined })
    }
    after = next
  } while (after !== undefined && entries.length < most)
  return { entries, next: after }
}

interface FittingQuery<View> extends Pick<PageQuery<Entry, View>, 'viewOf'> {
  readonly size: number
  readonly after: string | undefined
}

const listByKey = async <View>(store: ObjectStore, prefix: string, { size, after, viewOf }: FittingQuery<View>) => {
  const { entries, next } = await readEntries(store, prefix, size, after && prefix + after)
  // The cursor is a key, so the entries are cut off in the order of their keys.
  entries.sort((a, b) => compareText(keyOf(a), keyOf(b)))
  const contents = entries.slice(0, viewsThatFit(entries, viewOf).length)
  const last = contents.at(-1)
  const isEnd = last === undefined || (next === undefined && contents.length === entries.length)
  const cursor = isEnd ? undefined : writeCursor({ by: 'key', after: keyOf(last) })
  return { contents: contents.sort(byName).map(viewOf), cursor }
}

const listByName = <View>(all: readonly Entry[], { size, after, viewOf }: FittingQuery<View>): Page<View> => {
  const start = after === undefined ? 0 : all.findIndex(({ name }) => compareText(name, after) > 0)
  const some = start < 0 ? [] : all.slice(start, start + size)
  const contents = viewsThatFit(some, viewOf)
  const last = some[contents.length - 1]
  const isEnd = last === undefined || last === all.at(-1)
  return { contents, cursor: isEnd ? undefined : writeCursor({ by: 'name', after: last.name }) }
}

export const entriesTowards = async (store: ObjectStore, scope: Scope, folder: StoragePath) => {
  const folders = foldersTowards(scope, folder)
  const found = await Promise.all(folders.map((one) => store.exists(folderKey('live', scope.site, one))))
  return folders
    .filter((_, index) => found[index])
    .map((one) => ({ name: nameOf(one), type: 'folder', size: 0, modified: undefined }) as const)
    .sort(byName)
}

export const listFolder = async <View>(
  store: ObjectStore,
  scope: Scope,
  folder: StoragePath,
  { limit = wholeFolder, cursor, viewOf }: PageQuery<Entry, View>,
): Promise<Page<View>> => {
  const prefix = folderKey('live', scope.site, folder)
  const position = cursor === undefined ? undefined : readCursor(cursor, ['name', 'key'], 'storageRefused')
  const query = { size: Math.min(limit, wholeFolder), after: position?.after, viewOf }
  if (!isInScope(scope, folder)) return listByName(await entriesTowards(store, scope, folder), query)
  if (position?.by === 'key') return listByKey(store, prefix, query)
  const { entries, next } = await readEntries(store, prefix, wholeFolder)
  // The folder may have grown since its listing began. Later names have later keys, so no name is missed.
  return next === undefined ? listByName(entries.sort(byName), query) : listByKey(store, prefix, query)
}

export interface FileBelow extends Omit<ListedObject, 'key'> {
  readonly path: string
}

const mostFiles = 1_000
const leastKeys = 100
const mostListings = 10

const prefixesBelow = (scope: Scope, folder: StoragePath): readonly string[] => {
  const folders = isInScope(scope, folder) ? [folder] : ownFoldersBelow(scope, folder)
  return folders.map((one) => folderKey('live', scope.site, one)).sort(compareText)
}

/** Lists every live file below a folder in the order of keys (S-80, A-45). Errors: storageRefused (cursor). */
export const listFiles = async <View>(
  store: ObjectStore,
  scope: Scope,
  folder: StoragePath,
  { limit = mostFiles, cursor, viewOf }: PageQuery<FileBelow, View>,
): Promise<Page<View>> => {
  const top = folderKey('live', scope.site, folder)
  const prefixes = prefixesBelow(scope, folder)
  const size = Math.min(limit, mostFiles)
  const found: FileBelow[] = []
  let after = cursor === undefined ? undefined : top + readCursor(cursor, ['path'], 'storageRefused').after
  let prefix = prefixes.find((one) => after === undefined || after.startsWith(one) || compareText(after, one) < 0)
  for (let listings = 0; prefix !== undefined && found.length < size && listings < mostListings; listings++) {
    const keys = Math.max(size - found.length, leastKeys)
    const from: string | undefined = after?.startsWith(prefix) ? after : undefined
    const { objects, next } = await store.list({ prefix, folded: false, after: from, limit: keys })
    for (const { key, ...file } of objects) {
      if (!key.endsWith('/')) found.push({ ...file, path: key.slice(top.length) })
    }
    if (next === undefined) prefix = prefixes[prefixes.indexOf(prefix) + 1]
    after = next ?? prefix
  }
  const contents = viewsThatFit(found.slice(0, size), viewOf)
  const isWhole = contents.length === found.length
  const position = isWhole ? after?.slice(top.length) : found[contents.length - 1]?.path
  return { contents, cursor: position === undefined ? undefined : writeCursor({ by: 'path', after: position }) }
}

interface SearchQuery {
  readonly text: string
  readonly limit: number
  readonly cursor: string | undefined
  readonly deadline: Pick<Deadline, 'isOver'>
}

const mostCalls = 20

// In characters. An index of names cannot find shorter texts.
const shortestIndexed = 3

const listStep = async (store: ObjectStore, { prefix, text, after, limit }: NameQuery): Promise<NamePage> => {
  const { objects, next } = await store.list({ prefix, folded: false, after, limit: longestListing })
  const hits = objects.filter(({ key }) => key !== prefix && foldForSearch(nameOf(pathIn(key))).includes(text))
  if (hits.length <= limit) return { objects: hits, next }
  const some = hits.slice(0, limit)
  return { objects: some, next: some.at(-1)?.key }
}

const startOf = (cursor: string | undefined, top: string, prefixes: readonly string[]) => {
  if (cursor === undefined) return { by: undefined, index: 0, after: undefined }
  const { by, after } = readCursor(cursor, ['index', 'keys'], 'storageRefused')
  const [folder = '', position = ''] = after.split('\n')
  const prefix = top + folder
  const index = prefixes.indexOf(prefix)
  // Callers can forge a cursor, so it must not lead to keys outside the folders of the caller.
  const isPosition = by === 'keys' ? position.startsWith(prefix) : /^\d{1,15}$/.test(position)
  if (index < 0 || (position !== '' && !isPosition)) throw foreignCursor('storageRefused')
  return { by, index, after: position || undefined }
}

/**
 * Files and folders with a text in their names, anywhere below a folder, without regard to case (S-127). A page may be
 * short before the end. Errors: storageRefused (cursor), unavailable.
 */
export const searchNames = async (
  store: ObjectStore,
  scope: Scope,
  folder: StoragePath,
  { text, limit, cursor, deadline }: SearchQuery,
): Promise<Page<ListedObject>> => {
  const top = folderKey('live', scope.site, folder)
  const folded = foldForSearch(text)
  const prefixes = prefixesBelow(scope, folder)
  const start = startOf(cursor, top, prefixes)
  const mayUseIndex = start.by !== 'keys' && [...folded].length >= shortestIndexed
  const findNames = mayUseIndex ? await store.indexNames?.() : undefined
  const way = findNames ? 'index' : 'keys'
  const step = findNames ?? ((query: NameQuery) => listStep(store, query))
  const objects: ListedObject[] = []
  let { index } = start
  let after = start.by === way ? start.after : undefined
  for (let calls = 0; index < prefixes.length && objects.length < limit && calls < mostCalls; calls++) {
    const prefix = prefixes[index] ?? top
    if (calls > 0 && deadline.isOver()) break
    const page: NamePage = await step({ prefix, text: folded, after, limit: limit - objects.length })
    objects.push(...page.objects)
    if (page.next === undefined) index += 1
    after = page.next
  }
  const prefix = prefixes[index]
  if (prefix === undefined) return { contents: objects, cursor: undefined }
  const position = `${prefix.slice(top.length)}\n${after ?? ''}`
  return { contents: objects, cursor: writeCursor({ by: way, after: position }) }
}
