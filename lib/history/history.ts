import { type Change, type ChangeType, isAbout } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { type Area, areas, includesRight, type Right } from '../core/rights.ts'

export const keptFor = 90 * 24 * 3600 * 1000

/**
 * The port to the history of the sites. No entry ever appears before an entry that was already read, so a reader that
 * continues after a position misses nothing and gets nothing twice. Errors of every call: unavailable.
 */
export interface History {
  /**
   * Returns up to `limit` entries after a position, the oldest first. Position 0 is the beginning. Only the last page
   * has fewer.
   */
  after(site: SiteId, position: number, limit: number): Promise<readonly Change[]>
  /**
   * Returns up to `limit` entries right before a position, the oldest first. Without a position, returns the last
   * entries of the history. Only the page at the beginning of the history has fewer.
   */
  before(site: SiteId, position: number | undefined, limit: number): Promise<readonly Change[]>
  /** Calls `check` whenever the site may have new durable entries, until the caller calls the returned function. */
  watch(site: SiteId, check: () => void): () => void
}

export interface ChangeFilter {
  readonly types?: readonly ChangeType[] | undefined
  readonly subject?: string | undefined
  readonly actor?: string | undefined
  readonly since?: number | undefined
  readonly rights: readonly Right[]
  readonly withTokens?: boolean
}

const kindsOf: Readonly<Record<Area, readonly string[]>> = {
  files: ['file', 'folder', 'workflow'],
  forms: ['form', 'field'],
  categories: ['category', 'object', 'link'],
  history: [],
  access: ['token', 'user', 'key', 'issuer', 'rule', 'webhook'],
}

const areaOf = ({ type, subject }: Pick<Change, 'type' | 'subject'>): Area | undefined => {
  const [kind = ''] = type.split('.')
  if (kind === 'content') return subject === 'field' || subject === 'webForm' ? 'forms' : 'categories'
  return areas.find((area) => kindsOf[area].includes(kind))
}

export const areasOf = (types: readonly ChangeType[]): readonly Area[] => {
  const subjects = ['', 'field']
  const found = types.flatMap((type) => subjects.map((subject) => areaOf({ type, subject })))
  return [...new Set(found.filter((area) => area !== undefined))]
}

const mayRead = (rights: readonly Right[], area: Area, folder = ''): boolean =>
  includesRight(rights, { area, level: 'read', folder })

// Moves and copies have two paths. Entries about the site itself belong to no area.
const isReadable = (change: Change, { rights, withTokens }: ChangeFilter): boolean => {
  const { type, subject, details } = change
  const area = areaOf(change)
  if (area === undefined || (withTokens && type.startsWith('token.'))) return true
  if (area !== 'files') return mayRead(rights, area)
  const ends = [subject, ...(details && 'to' in details ? [String(details['to'])] : [])]
  return ends.every((path) => mayRead(rights, area, path))
}

const isWanted = (change: Change, filter: ChangeFilter): boolean => {
  const { types, subject = '', actor, since = 0 } = filter
  return (
    (types?.includes(change.type) ?? true) &&
    isAbout(change, subject) &&
    (actor === undefined || change.actor === actor) &&
    change.at >= since &&
    isReadable(change, filter)
  )
}

const longestSearch = 10_000
const mostAtOnce = 500

// In bytes. The entry of an upload may contain 100 file names.
const mostBytes = 3_000_000

export const sizeOf = (change: Change): number => 3 * JSON.stringify(change).length

/**
 * The wanted changes up to `next` are in this page or an earlier one. Without `next`, there is no position to continue
 * from.
 */
export interface ChangePage {
  readonly changes: readonly Change[]
  readonly next: number | undefined
}

const stepFor = (limit: number, { types, subject = '', rights }: ChangeFilter): number => {
  const seesMost = (['files', 'forms', 'categories'] as const).every((area) => mayRead(rights, area))
  return types || subject !== '' || !seesMost ? mostAtOnce : Math.max(limit, 100)
}

export const createPage = (limit: number, filter: ChangeFilter, most = mostBytes) => {
  const changes: Change[] = []
  let bytes = 0
  let next: number | undefined
  return {
    add(some: readonly Change[]): boolean {
      for (const change of some) {
        if (isWanted(change, filter)) {
          bytes += sizeOf(change)
          if (bytes > most && changes.length > 0) return false
          changes.push(change)
        }
        next = change.position
        if (changes.length === limit) return false
      }
      return true
    },
    read: (): ChangePage => ({ changes, next }),
  }
}

/**
 * Returns up to `limit` wanted entries after a position. A page may be empty and still have a `next`. Errors:
 * unavailable.
 */
export const changesAfter = async (
  history: Pick<History, 'after'>,
  site: SiteId,
  position: number,
  limit: number,
  filter: ChangeFilter,
  bytes?: number,
): Promise<ChangePage> => {
  const page = createPage(limit, filter, bytes)
  const step = stepFor(limit, filter)
  for (let lookedAt = 0; lookedAt < longestSearch; ) {
    const some = await history.after(site, page.read().next ?? position, step)
    lookedAt += some.length
    if (!page.add(some) || some.length < step) break
  }
  return page.read()
}

const isBefore = (change: Change | undefined, { since = 0 }: ChangeFilter): boolean =>
  change !== undefined && change.at < since - 60_000

interface NewestQuery {
  readonly limit: number
  readonly filter: ChangeFilter
  readonly most?: number
  readonly bytes?: number
  readonly before?: number | undefined
}

/**
 * The wanted entries before a position, the newest first. Without a position, begins with the newest entry. The next
 * page begins at `next`. At the beginning of the history, `next` is undefined. `end` is the position of the newest
 * entry that was read. Reads at most `most` entries, and returns at most `bytes`. Errors: unavailable.
 */
export const changesBefore = async (
  history: History,
  site: SiteId,
  { limit, filter, most = longestSearch, bytes, before }: NewestQuery,
): Promise<ChangePage & { readonly end: number | undefined }> => {
  const page = createPage(limit, filter, bytes)
  let end: number | undefined
  for (let lookedAt = 0; lookedAt < most; ) {
    const some = await history.before(site, page.read().next ?? before, mostAtOnce)
    end ??= some.at(-1)?.position
    lookedAt += some.length
    if (!page.add(some.toReversed())) break
    if (some.length < mostAtOnce || isBefore(some[0], filter)) return { ...page.read(), next: undefined, end }
  }
  return { ...page.read(), end }
}
