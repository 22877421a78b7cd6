import { errors, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { isPage } from './file-kind.ts'
import { compareText } from './list-folder.ts'
import { longestListing, type ObjectStore } from './object-store.ts'
import {
  type Area,
  ancestorsOf,
  childOf,
  folderKey,
  nameOf,
  parentOf,
  root,
  type StoragePath,
  segmentsOf,
} from './path.ts'
import { findWay, type Way } from './put-in-place.ts'

// Paths without case (decisions.md, section 5, "Paths"). Everything here is for what is not there as written: a path that is there costs
// no call more.

/** A path of more segments is not searched, and neither is a folder of more entries (`longestListing`). */
const mostSegments = 16

/** What a folder holds, by name: empty when it is not there. Undefined when it holds too much to be searched. */
interface Held {
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

const heldBy = async (store: ObjectStore, area: Area, site: SiteId, folder: StoragePath): Promise<Held | undefined> => {
  const prefix = folderKey(area, site, folder)
  const first = await store.list({ prefix, folded: true, limit: longestListing })
  // The folder itself stands at the head of its listing and is none of its entries: of these, one more may follow.
  const isOneShort = first.next !== undefined && first.objects[0]?.key === prefix
  const last = isOneShort ? await store.list({ prefix, folded: true, limit: 1, after: first.next }) : first
  if (last.next !== undefined) return undefined
  const listings = isOneShort ? [first, last] : [first]
  return {
    files: listings.flatMap(({ objects }) => objects.map(({ key }) => key.slice(prefix.length))),
    folders: listings.flatMap(({ folders }) => folders.map((key) => key.slice(prefix.length, -1))),
  }
}

/** The name itself when it is among them, else the first by code point of those that differ from it by case alone. */
const choose = (names: readonly string[], name: string): string | undefined => {
  if (names.includes(name)) return name
  const lower = name.toLowerCase()
  return names.filter((one) => one.toLowerCase() === lower).toSorted(compareText)[0]
}

/** Where a search for folders has ended: in a folder that is there, with the names that are not in it. */
interface Search {
  readonly folder: StoragePath
  readonly missing: readonly string[]
}

/** Goes on from what of a way is there as written, folder by folder. A file of the very name ends the search: as written, it is there. */
const searchOn = async (
  store: ObjectStore,
  site: SiteId,
  { standing: start = root, missing }: Way,
): Promise<Search> => {
  const names = missing.map(nameOf)
  let folder = start
  for (const [index, name] of names.entries()) {
    const held = await heldBy(store, 'live', site, folder)
    const found = held && !held.files.includes(name) ? choose(held.folders, name) : undefined
    if (found === undefined) return { folder, missing: names.slice(index) }
    folder = childOf(folder, found)
  }
  return { folder, missing: [] }
}

const withAncestors = (folder: StoragePath): readonly StoragePath[] =>
  folder === root ? [] : [...ancestorsOf(folder), folder]

const searchFor = async (store: ObjectStore, site: SiteId, folder: StoragePath): Promise<Search> =>
  searchOn(store, site, await findWay(store, site, withAncestors(folder)))

const joined = (folder: StoragePath, names: readonly string[]): StoragePath =>
  names.reduce<StoragePath>(childOf, folder)

/**
 * A path with the folders on its way as they are there, where these are not there as written; what is not found, and what comes behind the
 * way, stays as written. `way` is that of the path's first folders. Errors: urlInvalid when the whole becomes too long.
 */
export const onFoundWay = async (
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  way: Way,
): Promise<StoragePath> => {
  const segments = segmentsOf(path)
  if (way.missing.length === 0 || segments.length > mostSegments) return path
  const { folder, missing } = await searchOn(store, site, way)
  const looked = segmentsOf(way.standing ?? root).length + way.missing.length
  return joined(folder, [...missing, ...segments.slice(looked)])
}

/** The folder that something lies in, as it is there; what is not found of it stays as written. Errors: as of onFoundWay. */
export const standingFolder = async (store: ObjectStore, site: SiteId, folder: StoragePath): Promise<StoragePath> => {
  // What lies in it has one segment more.
  if (folder === root || segmentsOf(folder).length >= mostSegments) return folder
  const { folder: found, missing } = await searchFor(store, site, folder)
  return joined(found, missing)
}

/**
 * The same name, in the folder as it is there: a change that is repeated must not find another file in the place of the one that has gone.
 * Errors: as of onFoundWay.
 */
export const inStandingFolder = async (store: ObjectStore, site: SiteId, path: StoragePath): Promise<StoragePath> =>
  childOf(await standingFolder(store, site, parentOf(path)), nameOf(path))

/** Undefined when the folder holds too much to be searched. */
const namesIn = async (store: ObjectStore, site: SiteId, folder: StoragePath, withDrafts: boolean) => {
  const [live, drafts] = await Promise.all([
    heldBy(store, 'live', site, folder),
    withDrafts ? heldBy(store, 'draft', site, folder) : undefined,
  ])
  if (!live || (withDrafts && !drafts)) return undefined
  return [...live.files, ...live.folders, ...(drafts?.files ?? [])]
}

/**
 * The path of the file, draft or folder that is there without case: at each segment the one that is as written, else the first by code
 * point. Undefined when there is none, or the path is not searched. To be asked when nothing is there as written.
 */
export const lookUp = async (store: ObjectStore, site: SiteId, path: StoragePath): Promise<StoragePath | undefined> => {
  if (path === root || segmentsOf(path).length > mostSegments) return undefined
  const name = nameOf(path)
  const within = async (folder: StoragePath) => {
    const names = await namesIn(store, site, folder, isPage(childOf(folder, name)))
    const found = names && choose(names, name)
    return { stands: names?.length !== 0, found: found === undefined ? undefined : childOf(folder, found) }
  }
  // Most often the folder is there, and one listing tells.
  const folder = parentOf(path)
  const { stands, found } = await within(folder)
  if (stands || folder === root) return found
  const search = await searchFor(store, site, folder)
  return search.missing.length > 0 || search.folder === folder ? undefined : (await within(search.folder)).found
}

/**
 * What `read` finds at a path as written. Where nothing is there, which it says by fileUnknown, what it finds at the path that is there
 * without case.
 */
export const readFound = async <Found>(
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  read: (path: StoragePath) => Promise<Found>,
): Promise<Found> => {
  try {
    return await read(path)
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === errors.fileUnknown.code)) throw error
    const found = await lookUp(store, site, path)
    if (found === undefined || found === path) throw error
    return read(found)
  }
}
