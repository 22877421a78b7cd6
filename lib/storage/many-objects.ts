import { inParallel } from '../core/in-parallel.ts'
import { type Listing, longestListing, type ObjectInfo, type ObjectStore } from './object-store.ts'

const looksAtOnce = 32

export const findAll = async (store: Pick<ObjectStore, 'find'>, keys: Iterable<string>): Promise<ObjectInfo[]> => {
  const found: ObjectInfo[] = []
  await inParallel(keys, looksAtOnce, async (key) => {
    const object = await store.find(key)
    if (object) found.push(object)
  })
  return found
}

/**
 * Lists page by page, from the key after `from` if it is given. Requests the next page while the caller processes the
 * current page.
 */
export async function* listAll(store: Pick<ObjectStore, 'list'>, prefix: string, from?: string) {
  const list = (after?: string): Promise<Listing> => {
    const listing = store.list({ prefix, folded: false, limit: longestListing, after })
    // A failure of the next page is thrown when this page is awaited. Until then, nobody handles the failure.
    listing.catch(() => {})
    return listing
  }
  for (let coming: Promise<Listing> | undefined = list(from); coming; ) {
    const { objects, next }: Listing = await coming
    coming = next === undefined ? undefined : list(next)
    yield objects
  }
}
