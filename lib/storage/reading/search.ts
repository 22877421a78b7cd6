import { foreignCursor, readCursor, writeCursor } from '../../core/cursor.ts'
import type { Deadline } from '../../core/time.ts'
import { type ListedObject, longestListing, type NamePage, type NameQuery, type ObjectStore } from '../object-store.ts'
import { folderKey, foldForSearch, nameOf, pathIn, type StoragePath } from '../path.ts'
import type { Scope } from '../scope.ts'
import { type Page, prefixesBelow } from './listing.ts'

interface SearchQuery {
  readonly text: string
  readonly limit: number
  readonly cursor: string | undefined
  readonly deadline: Pick<Deadline, 'isOver'>
}

const mostCalls = 20

// In characters. An index of names cannot find shorter texts.
const shortestIndexed = 3

const ways = ['index', 'keys'] as const

const listStep = async (store: ObjectStore, { prefix, text, after, limit }: NameQuery): Promise<NamePage> => {
  const { objects, next } = await store.list({ prefix, folded: false, after, limit: longestListing })
  const hits = objects.filter(({ key }) => key !== prefix && foldForSearch(nameOf(pathIn(key))).includes(text))
  if (hits.length <= limit) return { objects: hits, next }
  const some = hits.slice(0, limit)
  return { objects: some, next: some.at(-1)?.key }
}

const startOf = (cursor: string | undefined, top: string, prefixes: readonly string[]) => {
  if (cursor === undefined) return { by: undefined, index: 0, after: undefined }
  const { by, after } = readCursor(cursor, ways, 'storageRefused')
  const [folder = '', position = ''] = after.split('\n')
  const prefix = top + folder
  const index = prefixes.indexOf(prefix)
  // Callers can forge a cursor, so it must not lead to keys outside the folders of the caller.
  const isPosition = by === 'keys' ? position.startsWith(prefix) : /^\d{1,15}$/.test(position)
  if (index < 0 || (position !== '' && !isPosition)) throw foreignCursor('storageRefused')
  return { by, index, after: position === '' ? undefined : position }
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
  const isIndexed =
    start.by !== 'keys' && [...folded].length >= shortestIndexed && (await store.indexNames?.()) === true
  const way = isIndexed ? 'index' : 'keys'
  const step = (query: NameQuery) => (isIndexed ? store.findNames?.(query) : undefined) ?? listStep(store, query)
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
  const position = prefix === undefined ? undefined : `${prefix.slice(top.length)}\n${after ?? ''}`
  return { contents: objects, cursor: position === undefined ? undefined : writeCursor({ by: way, after: position }) }
}
