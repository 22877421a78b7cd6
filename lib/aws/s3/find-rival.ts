import type { ObjectStore } from '../../storage/object-store.ts'

const isFolder = (key: string) => key.endsWith('/')
const parentOf = (folder: string) => folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)

/** From how many folders in one folder on that one is listed in their place. A listing costs as much as a write. */
const worthAListing = 2
const longestListing = 1_000

/** Answers the first of the keys where there is something: exactly there, or, for one that ends in `/`, there and below. */
export const findRival = async (
  { find, exists, list }: Pick<ObjectStore, 'find' | 'exists' | 'list'>,
  keys: readonly string[],
): Promise<string | undefined> => {
  const oneByOne = async (folders: readonly string[]) => {
    const found = await Promise.all(folders.map(exists))
    return folders.filter((_, index) => found[index])
  }
  /** Which of some folders in one folder there are. */
  const standing = async ([parent, folders]: [string, string[]]): Promise<readonly string[]> => {
    if (folders.length < worthAListing) return oneByOne(folders)
    const listing = await list({ prefix: parent, folded: true, limit: longestListing })
    if (listing.next !== undefined) return oneByOne(folders)
    const there = new Set(listing.folders)
    return folders.filter((folder) => there.has(folder))
  }
  const objects = keys.filter((key) => !isFolder(key))
  const [foldersThere, objectsThere] = await Promise.all([
    Promise.all([...Map.groupBy(keys.filter(isFolder), parentOf)].map(standing)),
    Promise.all(objects.map(find)),
  ])
  const taken = new Set([...foldersThere.flat(), ...objects.filter((_, index) => objectsThere[index])])
  return keys.find((key) => taken.has(key))
}
