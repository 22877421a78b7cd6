import type { ListedObject, Listing, ObjectStore } from './object-store.ts'

/** What one call to a store lists at most. */
export const longestListing = 1000

/** Every object below a prefix, listing by listing; the next one is asked for while this one is worked on. */
export async function* listAll(store: ObjectStore, prefix: string): AsyncGenerator<readonly ListedObject[], void> {
  const list = (after?: string): Promise<Listing> => {
    const listing = store.list({ prefix, folded: false, limit: longestListing, after })
    // Its failure is seen when it is waited for; until then it is nobody's.
    listing.catch(() => {})
    return listing
  }
  for (let coming: Promise<Listing> | undefined = list(); coming; ) {
    const { objects, next }: Listing = await coming
    coming = next === undefined ? undefined : list(next)
    yield objects
  }
}
