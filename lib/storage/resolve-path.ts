import type { SiteId } from '../core/ids.ts'
import { compareText } from '../core/names.ts'
import { isPage } from './file-kind.ts'
import { longestListing, type ObjectStore } from './object-store.ts'
import {
  childOf,
  type Edition,
  foldCase,
  folderKey,
  foldersAround,
  isInScope,
  nameOf,
  parentOf,
  root,
  type Scope,
  type StoragePath,
  segmentsOf,
} from './path.ts'

// A lookup that ignores case (S-3 to S-9). A path that exists as written costs no additional call. The lookup searches
// only inside the folders of the caller, so its result needs no further check of rights.

const mostSegments = 16

export type Ancestors = Awaited<ReturnType<typeof findAncestors>>

/**
 * `existing` is the deepest folder that exists. All folders above it exist too, because the service checks this when it
 * creates a folder.
 */
export const findAncestors = async (files: ObjectStore, site: SiteId, folders: readonly StoragePath[]) => {
  for (let end = folders.length, count = 1; end > 0; end -= count, count *= 2) {
    const some = folders.slice(Math.max(0, end - count), end)
    const found = await Promise.all(some.map((folder) => files.find(folderKey('live', site, folder))))
    const existing = some[found.findLastIndex((info) => info !== undefined)]
    if (existing !== undefined) return { existing, missing: folders.slice(folders.indexOf(existing) + 1) }
  }
  return { existing: undefined, missing: folders }
}

// Folders with more than `longestListing` entries are not searched (S-8).
const namesBelow = async (store: ObjectStore, edition: Edition, site: SiteId, folder: StoragePath) => {
  const prefix = folderKey(edition, site, folder)
  const first = await store.list({ prefix, folded: true, limit: longestListing })
  // A listing begins with the object of the folder itself, which is not an entry. So one more entry may follow.
  const isOneShort = first.next !== undefined && first.objects[0]?.key === prefix
  const last = isOneShort ? await store.list({ prefix, folded: true, limit: 1, after: first.next }) : first
  if (last.next !== undefined) return undefined
  const listings = isOneShort ? [first, last] : [first]
  return {
    files: listings.flatMap(({ objects }) => objects.map(({ key }) => key.slice(prefix.length))),
    folders: listings.flatMap(({ folders }) => folders.map((key) => key.slice(prefix.length, -1))),
  }
}

// Returns the exact name. Without the exact name, returns the first name, by code points, that differs only in case
// (S-4).
const choose = (names: readonly string[], name: string): string | undefined => {
  if (names.includes(name)) return name
  const folded = foldCase(name)
  return names.filter((one) => foldCase(one) === folded).toSorted(compareText)[0]
}

const searchBelow = async (store: ObjectStore, scope: Scope, { existing = root, missing }: Ancestors) => {
  const names = missing.map(nameOf)
  if (!isInScope(scope, existing)) return { folder: existing, missing: names }
  let folder = existing
  for (const [index, name] of names.entries()) {
    const below = await namesBelow(store, 'live', scope.site, folder)
    // A file of exactly this name hides folders whose names differ only in case.
    const found = below && !below.files.includes(name) ? choose(below.folders, name) : undefined
    if (found === undefined) return { folder, missing: names.slice(index) }
    folder = childOf(folder, found)
  }
  return { folder, missing: [] }
}

/** Spells the ancestors as the store does (S-5). Errors: urlInvalid (too long). */
export const resolvePath = async (store: ObjectStore, scope: Scope, path: StoragePath, ancestors: Ancestors) => {
  const segments = segmentsOf(path)
  if (ancestors.missing.length === 0 || segments.length > mostSegments) return path
  const { folder, missing } = await searchBelow(store, scope, ancestors)
  const searched = segmentsOf(ancestors.existing ?? root).length + ancestors.missing.length
  return [...missing, ...segments.slice(searched)].reduce<StoragePath>(childOf, folder)
}

export const resolveFolder = async (store: ObjectStore, scope: Scope, folder: StoragePath): Promise<StoragePath> => {
  // A folder with `mostSegments` cannot contain a file, because the path of the file would have too many segments.
  if (segmentsOf(folder).length >= mostSegments) return folder
  return resolvePath(store, scope, folder, await findAncestors(store, scope.site, foldersAround([folder])))
}

/** Keeps the last segment as written (S-6): a repeated removal must not find another file. */
export const resolveParent = async (store: ObjectStore, scope: Scope, path: StoragePath): Promise<StoragePath> =>
  childOf(await resolveFolder(store, scope, parentOf(path)), nameOf(path))

const allNamesIn = async (store: ObjectStore, site: SiteId, folder: StoragePath, withDrafts: boolean) => {
  const [live, drafts] = await Promise.all([
    namesBelow(store, 'live', site, folder),
    withDrafts ? namesBelow(store, 'draft', site, folder) : undefined,
  ])
  if (!live || (withDrafts && !drafts)) return undefined
  return [...live.files, ...live.folders, ...(drafts?.files ?? [])]
}

const findIgnoringCase = async (store: ObjectStore, scope: Scope, path: StoragePath) => {
  if (path === root || segmentsOf(path).length > mostSegments || !isInScope(scope, parentOf(path))) return undefined
  const name = nameOf(path)
  const findIn = async (folder: StoragePath) => {
    const names = await allNamesIn(store, scope.site, folder, isPage(childOf(folder, name)))
    const found = names && choose(names, name)
    return { exists: names?.length !== 0, found: found === undefined ? undefined : childOf(folder, found) }
  }
  // Most often the folder exists, and then one listing is enough.
  const folder = parentOf(path)
  const { exists, found } = await findIn(folder)
  if (exists || folder === root) return found
  const search = await searchBelow(store, scope, await findAncestors(store, scope.site, foldersAround([folder])))
  return search.missing.length > 0 || search.folder === folder ? undefined : (await findIn(search.folder)).found
}

/** The path as written, followed by the path that differs only in case (S-4), if there is one. */
export async function* spellingsOf(store: ObjectStore, scope: Scope, path: StoragePath) {
  yield path
  const found = await findIgnoringCase(store, scope, path)
  if (found !== undefined && found !== path) yield found
}
