import type { ListedObject, Listing, ListQuery } from '../../lib/storage/object-store.ts'
import { behind, endOf, type IndexDatabase, type Row, toListed } from './index-database.ts'

/** The objects that lie directly in a folder, up to the first one that lies deeper; answers the folder that this one is in. */
function* objectsBeforeFolder(rows: Iterable<Row>, depth: number): Generator<ListedObject, string | undefined> {
  for (const row of rows) {
    const slash = row.key.indexOf('/', depth)
    if (slash >= 0) return row.key.slice(0, slash + 1)
    yield toListed(row)
  }
  return undefined
}

/** Objects and folders in the order of their keys. What lies in a folder is passed over, however much it is. */
function* foldedEntries(index: IndexDatabase, prefix: string, start: string): Generator<ListedObject | string> {
  const end = endOf(prefix)
  for (let from = start; ; ) {
    const folder = yield* objectsBeforeFolder(index.rows(from, end), prefix.length)
    if (folder === undefined) return
    yield folder
    from = endOf(folder)
  }
}

function* plainEntries(index: IndexDatabase, prefix: string, start: string): Generator<ListedObject> {
  for (const row of index.rows(start, endOf(prefix))) yield toListed(row)
}

const startOf = ({ prefix, folded, after }: ListQuery): string => {
  if (after === undefined) return prefix
  return folded && after.endsWith('/') && after !== prefix ? endOf(after) : behind(after)
}

export const listObjects = (index: IndexDatabase, query: ListQuery): Listing => {
  const { prefix, folded, limit } = query
  const objects: ListedObject[] = []
  const folders: string[] = []
  let last: string | undefined
  for (const entry of (folded ? foldedEntries : plainEntries)(index, prefix, startOf(query))) {
    if (objects.length + folders.length === limit) return { objects, folders, next: last }
    if (typeof entry === 'string') folders.push(entry)
    else objects.push(entry)
    last = typeof entry === 'string' ? entry : entry.key
  }
  return { objects, folders, next: undefined }
}
