import {
  longestListing,
  type Period,
  type RemovedEntry,
  type RemovedListing,
  type RemovedObject,
  type RemovedQuery,
} from '../../storage/object-store.ts'
import type { Bucket } from './bucket.ts'
import { compareKeys, existsBelow, lastCharacter } from './looking.ts'
import { listPage, type Page, type Place, type State, statesBelow } from './states.ts'

/** A search for the state in which an object was when a marker of some moments hid it, through the states of its key. */
interface Search {
  readonly key: string
  /** What hides the state that is looked for, as far as it has been seen; undefined when a newer version is there. */
  hiddenBy: string[] | undefined
  /** Whether the marker has been passed: the next version is what it hid. */
  isBehindMarker: boolean
  isOver: boolean
}

/** Goes on with a search. Answers what it was for when that is among these states. */
const goOn = (
  search: Search,
  states: readonly State[],
  isMarker: (state: State) => boolean,
): readonly RemovedObject[] => {
  for (const state of states) {
    if (search.isOver) break
    if (state.kind === 'marker') {
      search.isBehindMarker ||= isMarker(state)
      search.hiddenBy?.push(state.id)
    } else if (search.isBehindMarker) {
      search.isOver = true
      const { key, hiddenBy } = search
      return [{ key, id: state.id, tag: state.tag, ...(hiddenBy && { hiddenBy }) }]
    } else search.hiddenBy = undefined
  }
  return []
}

/** The clocks of a bucket and of whoever asks it differ a little, and a bucket's tells whole seconds. */
const slack = 1_000

/** `ObjectStore.removedWithin`. */
export async function* listRemovedWithin(
  bucket: Bucket,
  prefix: string,
  { from, to }: Period,
): AsyncGenerator<readonly RemovedObject[], void> {
  const isMarker = ({ kind, at }: State) => kind === 'marker' && at > from - slack - 1_000 && at <= to + slack
  let search: Search | undefined
  for await (const page of statesBelow(bucket, prefix, (key) => search?.key === key && search.isOver)) {
    const found: RemovedObject[] = []
    for (const [key, states] of page) {
      if (search?.key !== key) search = { key, hiddenBy: [], isBehindMarker: false, isOver: false }
      found.push(...goOn(search, states, isMarker))
    }
    yield found
  }
}

/** How many folders are looked into at once. */
const looksAtOnce = 16

/** How many listings one folder is looked into with for when it was removed, ... */
const mostLooks = 10

/** ... and after how many of them, for all folders together, a page ends. */
const mostLooksInAll = 200

/** How many listings of the folder itself a page takes at the most. */
const mostPages = 10

/** The folder, if nothing is there any more, with the last removal among its first 10,000 states. `counted` is told of each listing. */
const removedFolder = async (
  bucket: Bucket,
  folder: string,
  counted: () => void,
): Promise<RemovedEntry | undefined> => {
  counted()
  if (await existsBelow(bucket, folder)) return undefined
  let [looks, removedAt, after]: [number, number, Place | undefined] = [0, 0, undefined]
  do {
    counted()
    const { states, next }: Page = await listPage(bucket, { prefix: folder, folded: false, after })
    for (const { kind, at } of [...states.values()].flat()) if (kind === 'marker') removedAt = Math.max(removedAt, at)
    after = next
    looks += 1
  } while (after && looks < mostLooks)
  return { key: folder, removedAt, size: null }
}

/** The key that a listing of a folder tells: what lies below one of its folders counts as that folder. */
const foldedKey = (prefix: string, key: string): string => {
  const end = key.indexOf('/', prefix.length)
  return end < 0 ? key : key.slice(0, end + 1)
}

/** Where a listing of a folder goes on: behind all that lies in a folder of its. */
const behindKey = (prefix: string, key: string): Place => ({
  key: key.endsWith('/') && key !== prefix ? `${key}${lastCharacter}` : key,
})

/** A key of which markers have been seen so far, and no version: the oldest of them. */
interface Undecided {
  readonly key: string
  readonly removedAt: number
}

/** What a listing of a folder brings, in order: objects that have gone, and folders that are still to be looked into. */
type Candidate = RemovedEntry | { readonly key: string; readonly size?: undefined }

/** What has gone of a listing, as far as that can be told, and the last key where it cannot. */
const candidatesIn = (
  { states, folders }: Pick<Page, 'states' | 'folders'>,
  prefix: string,
  before: Undecided | undefined,
): { readonly candidates: readonly Candidate[]; readonly undecided: Undecided | undefined } => {
  const candidates: Candidate[] = folders.map((key) => ({ key }))
  let undecided: Undecided | undefined
  for (const [key, some] of states) {
    const at = some.findIndex(({ kind }) => kind === 'version')
    const [version, marker] = [some[at], some.at(at < 0 ? -1 : Math.max(at - 1, 0))]
    const known = before?.key === key ? before.removedAt : undefined
    const removedAt = marker?.kind === 'marker' ? marker.at : known
    undecided = version || removedAt === undefined ? undefined : { key, removedAt }
    if (version && removedAt !== undefined && key !== prefix) candidates.push({ key, removedAt, size: version.size })
  }
  return { candidates: candidates.sort((one, other) => compareKeys(one.key, other.key)), undecided }
}

/** What one listing has brought, and the key up to which everything is known by then. */
interface Found {
  readonly candidates: readonly Candidate[]
  readonly upTo: string | undefined
  readonly isLast: boolean
}

/** Listing by listing, but not many. The first one is short, as few entries are often asked for; each one after it is longer. */
async function* findCandidates(bucket: Bucket, { prefix, after, limit }: RemovedQuery): AsyncGenerator<Found, void> {
  let upTo = after
  let place = after === undefined ? undefined : behindKey(prefix, after)
  let undecided: Undecided | undefined
  for (let pages = 0; pages < (undecided ? 2 : 1) * mostPages; pages++) {
    const length = Math.min(longestListing, (limit + 1) * 4 ** pages)
    const page: Page = await listPage(bucket, { prefix, folded: true, after: place, limit: length })
    const { next } = page
    const found = candidatesIn(page, prefix, undecided)
    undecided = next?.id !== undefined && found.undecided?.key === next.key ? found.undecided : undefined
    const before = upTo
    // A store may tell a folder once more that the listing before has ended in.
    const candidates = found.candidates.filter(({ key }) => before === undefined || compareKeys(key, before) > 0)
    if (next && !undecided) {
      upTo = foldedKey(prefix, next.key)
      place = behindKey(prefix, upTo)
    } else place = next
    yield { candidates, upTo, isLast: !next }
    if (!next) return
  }
  // Nobody hides an object so often: it is passed over, so that a listing comes to its end.
  if (undecided) yield { candidates: [], upTo: undecided.key, isLast: false }
}

/** A page of what was found; `upTo` is where to go on when all of it is shown. */
const pageOf = (entries: readonly RemovedEntry[], limit: number, upTo: string | undefined): RemovedListing => {
  const shown = entries.slice(0, limit)
  return { entries: shown, next: entries.length > limit ? shown.at(-1)?.key : upTo }
}

/**
 * `ObjectStore.listRemoved`. A page ends after some listings, whatever it holds by then: what is there is passed over, and may be any number of
 * objects and folders.
 */
export const listRemoved = async (bucket: Bucket, query: RemovedQuery): Promise<RemovedListing> => {
  const { after, limit } = query
  const entries: RemovedEntry[] = []
  let looks = 0
  const look = async (candidate: Candidate): Promise<RemovedEntry | undefined> =>
    candidate.size === undefined ? removedFolder(bucket, candidate.key, () => looks++) : candidate
  let known = after
  for await (const { candidates, upTo, isLast } of findCandidates(bucket, query)) {
    for (let first = 0; first < candidates.length; first += looksAtOnce) {
      if (entries.length >= limit || looks >= mostLooksInAll) return pageOf(entries, limit, known)
      const some = candidates.slice(first, first + looksAtOnce)
      const found = await Promise.all(some.map(look))
      entries.push(...found.filter((entry) => entry !== undefined))
      known = some.at(-1)?.key
    }
    if (isLast) return pageOf(entries, limit, undefined)
    known = upTo
    if (entries.length >= limit) break
  }
  return pageOf(entries, limit, known)
}
