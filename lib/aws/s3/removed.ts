import { chunksOf } from '../../core/in-parallel.ts'
import { compareText } from '../../core/names.ts'
import {
  longestListing,
  type Period,
  type RemovedEntry,
  type RemovedListing,
  type RemovedObject,
  type RemovedQuery,
} from '../../storage/object-store.ts'
import type { Bucket } from './bucket.ts'
import { endOfFolder, existsBelow } from './find.ts'
import { type ListPosition, listPage, type Page, type State, statesBelow } from './versions.ts'

// Searches one key for the version that was hidden in some period, from the newest state of the key on. `markers` tells
// of each delete marker just before the version whether it is of this period. The last of them hid the version. But a
// version in parts has the time when its upload began, so even older markers may come before it.
interface Search {
  readonly key: string
  // The delete markers seen so far that hide the version. Undefined if a newer version exists.
  hiddenBy: string[] | undefined
  markers: boolean[]
  isOver: boolean
}

const continueSearch = (search: Search, states: readonly State[], isOfPeriod: (state: State) => boolean) => {
  for (const state of states) {
    if (search.isOver) break
    if (state.kind === 'marker') {
      search.markers.push(isOfPeriod(state))
      search.hiddenBy?.push(state.id)
    } else if (state.tag.includes('-') ? search.markers.includes(true) : search.markers.at(-1)) {
      search.isOver = true
      const { key, hiddenBy } = search
      return [{ key, id: state.id, size: state.size, tag: state.tag, ...(hiddenBy && { hiddenBy }) }]
    } else [search.hiddenBy, search.markers] = [undefined, []]
  }
  return []
}

// In milliseconds: the clocks of the bucket and the caller differ a little, and S3 rounds to seconds.
const slack = 1_000

export async function* listRemovedWithin(bucket: Bucket, prefix: string, { from, to }: Period) {
  const isOfPeriod = ({ at }: State) => at > from - slack - 1_000 && at <= to + slack
  let search: Search | undefined
  for await (const page of statesBelow(bucket, prefix, (key) => search?.key === key && search.isOver)) {
    const found: RemovedObject[] = []
    for (const [key, states] of page) {
      if (search?.key !== key) search = { key, hiddenBy: [], markers: [], isOver: false }
      found.push(...continueSearch(search, states, isOfPeriod))
    }
    yield found
  }
}

const looksAtOnce = 16

// The largest number of listings for the folder, for each removed folder in it, and for all removed folders.
const mostPages = 10
const mostLooks = 10
const mostLooksInAll = 200

// Finds the last removal of an empty folder in the folder's first 10,000 states. The marker before a version is the one
// that removed the version; a purge adds newer markers. Also returns the number of listings.
const findRemovedFolder = async (bucket: Bucket, folder: string) => {
  if (await existsBelow(bucket, folder)) return { entry: undefined, looks: 1 }
  let [looks, removedAt] = [1, 0]
  let hiddenBy: { readonly key: string; readonly at: number } | undefined
  for await (const page of statesBelow(bucket, folder)) {
    for (const { key, kind, at } of [...page].flatMap(([key, states]) => states.map((state) => ({ ...state, key })))) {
      if (kind === 'version' && hiddenBy?.key === key) removedAt = Math.max(removedAt, hiddenBy.at)
      hiddenBy = kind === 'marker' ? { key, at } : undefined
    }
    looks += 1
    if (looks > mostLooks) break
  }
  return { entry: removedAt === 0 ? undefined : { key: folder, removedAt, size: null }, looks }
}

const foldedKey = (prefix: string, key: string): string => {
  const end = key.indexOf('/', prefix.length)
  return end < 0 ? key : key.slice(0, end + 1)
}

const positionAfter = (prefix: string, key: string): ListPosition => ({
  key: key.endsWith('/') && key !== prefix ? endOfFolder(key) : key,
})

// A key for which only markers and no version were found so far. `removedAt` is the time of the oldest marker.
interface Undecided {
  readonly key: string
  readonly removedAt: number
}

type Candidate = RemovedEntry | { readonly key: string; readonly size?: undefined }

const candidatesIn = ({ states, folders }: Page, prefix: string, before: Undecided | undefined) => {
  const candidates: Candidate[] = folders.map((key) => ({ key }))
  let undecided: Undecided | undefined
  for (const [key, some] of states) {
    const version = some.find(({ kind }) => kind === 'version')
    const marker = some.slice(0, version && some.indexOf(version)).at(-1)
    const removedAt = marker?.at ?? (before?.key === key ? before.removedAt : undefined)
    undecided = version || removedAt === undefined ? undefined : { key, removedAt }
    if (version && removedAt !== undefined && key !== prefix) candidates.push({ key, removedAt, size: version.size })
  }
  return { candidates: candidates.sort((one, other) => compareText(one.key, other.key)), undecided }
}

// The first listing is short, because most requests want few entries. Later listings are longer.
async function* findCandidates(bucket: Bucket, { prefix, after, limit }: RemovedQuery) {
  let upTo = after
  let position = after === undefined ? undefined : positionAfter(prefix, after)
  let undecided: Undecided | undefined
  for (let pages = 0; pages < (undecided ? 2 : 1) * mostPages; pages++) {
    const length = Math.min(longestListing, (limit + 1) * 4 ** pages)
    const page: Page = await listPage(bucket, { prefix, folded: true, after: position, limit: length })
    const { next } = page
    const found = candidatesIn(page, prefix, undecided)
    undecided = next?.id !== undefined && found.undecided?.key === next.key ? found.undecided : undefined
    if (next && !undecided) {
      upTo = foldedKey(prefix, next.key)
      position = positionAfter(prefix, upTo)
    } else position = next
    yield { candidates: found.candidates, upTo, isLast: !next }
    if (!next) return
  }
  // No real object was removed this often. A key with more delete markers is skipped, so that the listing ends.
  if (undecided) yield { candidates: [], upTo: undecided.key, isLast: false }
}

const pageOf = (entries: readonly RemovedEntry[], limit: number, upTo: string | undefined): RemovedListing => {
  const shown = entries.slice(0, limit)
  return { entries: shown, next: entries.length > limit ? shown.at(-1)?.key : upTo }
}

/**
 * Implements `ObjectStore.listRemoved`. A page ends after a number of listings, because any number of existing objects
 * may lie between two removed objects.
 */
export const listRemoved = async (bucket: Bucket, query: RemovedQuery): Promise<RemovedListing> => {
  const { after, limit } = query
  const entries: RemovedEntry[] = []
  let looks = 0
  const look = async (candidate: Candidate): Promise<RemovedEntry | undefined> => {
    if (candidate.size !== undefined) return candidate
    const found = await findRemovedFolder(bucket, candidate.key)
    looks += found.looks
    return found.entry
  }
  let known = after
  for await (const { candidates, upTo, isLast } of findCandidates(bucket, query)) {
    for (const some of chunksOf(candidates, looksAtOnce)) {
      if (entries.length >= limit || looks >= mostLooksInAll) return pageOf(entries, limit, known)
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
