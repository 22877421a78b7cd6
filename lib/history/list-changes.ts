import type { ChangeType } from '../core/history-entry.ts'
import { type SiteId, storedId } from '../core/ids.ts'
import type { Change, History } from './history.ts'

/** So many digits has a position in an id, so that ids sort as their positions do. */
const digits = 16

const shape = /^(\d{16})-([1-9]\d{0,14})$/

/** What an entry is called: its position, then its site. */
export const idOfChange = ({ site, position }: Pick<Change, 'site' | 'position'>): string =>
  `${String(position).padStart(digits, '0')}-${site}`

/** The position in an id of an entry of this site; undefined for what is none. */
export const positionIn = (id: string, site: SiteId): number | undefined => {
  const [, position = '', ofSite = ''] = shape.exec(id) ?? []
  if (position === '' || storedId<SiteId>(ofSite) !== site) return undefined
  return Number.isSafeInteger(Number(position)) ? Number(position) : undefined
}

/** An entry as people and programs are shown it (decisions.md, section 10). */
export const viewOfChange = (change: Change) => ({
  id: idOfChange(change),
  at: new Date(change.at).toISOString(),
  type: change.type,
  subject: change.subject,
  actor: change.actor,
  requestId: change.requestId ?? null,
  details: change.details ?? null,
})

/** Which entries are wanted. */
export interface ChangeFilter {
  /** Any of these; of every type unless told. */
  readonly types?: readonly ChangeType[] | undefined
  /** What the subject begins with. */
  readonly subject?: string | undefined
  readonly actor?: string | undefined
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined
  /** Whether entries about files and folders are among them, those of their workflows included. */
  readonly withFiles: boolean
}

const isAboutFiles = ({ type }: Change): boolean => /^(?:file|folder|workflow)\./.test(type)

const isWanted = (change: Change, { types, subject = '', actor, since = 0, withFiles }: ChangeFilter): boolean =>
  (types?.includes(change.type) ?? true) &&
  change.subject.startsWith(subject) &&
  (actor === undefined || change.actor === actor) &&
  change.at >= since &&
  (withFiles || !isAboutFiles(change))

/** How many entries are looked at for one answer, and how many of them are read at once. */
const mostLookedAt = 10_000
const mostAtOnce = 500

/** How much of an answer entries may take, in bytes: those of uploads name up to 100 files each. */
const mostBytes = 3_000_000

/** At the most three bytes for a character, and what an answer has around each member. */
const sizeOf = ({ subject, actor, details }: Change): number =>
  300 + 3 * (subject.length + actor.length) + (details ? 3 * JSON.stringify(details).length : 0)

/** Some entries, the oldest first, and the position up to which there are no others; undefined when there is nothing to go on from. */
export interface ChangePage {
  readonly changes: readonly Change[]
  readonly next: number | undefined
}

/** The entries of an answer, one after the other: so many, and no more than it may hold. */
const openPage = (limit: number) => {
  const changes: Change[] = []
  let bytes = 0
  return {
    changes,
    /** Answers false, and leaves it out, when there is no room for it. The first one always has some. */
    take(change: Change): boolean {
      bytes += sizeOf(change)
      if (bytes > mostBytes && changes.length > 0) return false
      changes.push(change)
      return true
    },
    isFull: () => changes.length === limit,
  }
}

/** How many entries are read at once for so many that are wanted: where others are among them, many. */
const stepFor = (limit: number, { types, subject = '', withFiles }: ChangeFilter): number =>
  types || subject !== '' || !withFiles ? mostAtOnce : Math.max(limit, 100)

/**
 * The entries behind a position that are wanted, up to `limit`. Where few are, the page may hold fewer, or none, although more follow: `next`
 * leads on, and is undefined at the end alone. Errors: unavailable.
 */
export const changesAfter = async (
  history: History,
  site: SiteId,
  position: number,
  limit: number,
  filter: ChangeFilter,
): Promise<ChangePage> => {
  const page = openPage(limit)
  const step = stepFor(limit, filter)
  let next: number | undefined
  for (let lookedAt = 0; lookedAt < mostLookedAt; ) {
    const some = await history.after(site, next ?? position, step)
    for (const change of some) {
      if (isWanted(change, filter) && !page.take(change)) return { changes: page.changes, next }
      next = change.position
      if (page.isFull()) return { changes: page.changes, next }
    }
    lookedAt += some.length
    if (some.length < step) break
  }
  return { changes: page.changes, next }
}

/** Whether whoever looks back has come to what is older than anybody wants to know. Clocks differ a little. */
const isBefore = (change: Change | undefined, { since = 0 }: ChangeFilter): boolean =>
  change !== undefined && change.at < since - 60_000

/**
 * The newest entries that are wanted, up to `limit`, among the last `most`. `next` is the end of the history, wanted or not: what comes from now on is behind
 * it. Errors: unavailable.
 */
export const newestChanges = async (
  history: History,
  site: SiteId,
  limit: number,
  filter: ChangeFilter,
  most = mostLookedAt,
): Promise<ChangePage> => {
  const found: Change[] = []
  let next: number | undefined
  let first: Change | undefined
  for (let lookedAt = 0; lookedAt < most && found.length < limit; ) {
    const some = await history.before(site, first?.position, mostAtOnce)
    next ??= some.at(-1)?.position
    found.push(...some.filter((change) => isWanted(change, filter)).reverse())
    lookedAt += some.length
    first = some[0]
    if (some.length < mostAtOnce || isBefore(first, filter)) break
  }
  return { changes: found.slice(0, limit).reverse(), next }
}

/** The newest of some entries, the oldest first, that an answer may hold. */
export const newestWithin = (changes: readonly Change[]): readonly Change[] => {
  const page = openPage(changes.length)
  for (const change of changes.toReversed()) if (!page.take(change)) break
  return page.changes.toReversed()
}
