import { type ContentKind, contentMembers, type ObjectKind, textMember } from '../core/content-kinds.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import type { Scalars } from '../core/object-kinds.ts'

export type Content = Scalars & { readonly id: number }

export interface SiteObject {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly id: number
}

/**
 * A count of the entries after an id, up to a limit. `last` is the id of the last counted entry. `ended` is true if no
 * entry follows this one.
 */
export interface Count {
  readonly count: number
  readonly last: number
  readonly ended: boolean
}

/** An entry of a stored list. `content` is undefined if the content is being removed. */
export interface Entry<Shown = Content> {
  readonly id: number
  readonly content: Shown | undefined
}

export type Edit = (stored: Content | undefined, id: number) => Content | undefined

/**
 * The port to the categories and objects of the sites. Long texts are stored separately, and reads leave them out.
 * Reads do not find content that is being removed. `get`, `existing` and calls with `isConsistent` read consistently.
 * Errors of every call: unavailable.
 */
export interface Contents {
  // Names the current state of all content and links. Each state has another name. Undefined if computing the name
  // would cost as much as reading the content.
  state(): Promise<string | undefined>
  get(site: SiteId, kind: ContentKind, id: number): Promise<Content | undefined>
  getMany(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlyMap<number, Content>>
  existing(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlySet<number>>
  texts(
    site: SiteId,
    kind: ContentKind,
    ids: readonly number[],
    isConsistent?: boolean,
  ): Promise<ReadonlyMap<number, string>>
  // Returns up to `limit` items with ids above `after`, sorted by id. Only the last page has fewer.
  list(site: SiteId, kind: ContentKind, after: number, limit: number, isConsistent?: boolean): Promise<readonly Entry[]>
  count(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<Count>
  highestId(site: SiteId, kind: ContentKind): Promise<number>
  /** Stores the content with its long text. If the id is taken, changes nothing and returns false. */
  create(site: SiteId, kind: ContentKind, content: Content, entry: HistoryEntry): Promise<boolean>
  putMany(site: SiteId, kind: ContentKind, contents: readonly Content[], entry: HistoryEntry): Promise<void>
  /**
   * Stores the result of `apply` for each id. `apply` gets the stored content without its long text. An undefined
   * result changes nothing. A result without a long text keeps the stored long text. Returns the number of changes. The
   * entry is written with the first change. `apply` may be called again. Repeating is safe.
   */
  changeMany(site: SiteId, kind: ContentKind, ids: readonly number[], apply: Edit, entry: HistoryEntry): Promise<number>
  /**
   * Removes the content with its links. From the start, no read finds it. Repeat the call to complete an interrupted
   * removal.
   */
  remove(site: SiteId, kind: ContentKind, id: number, entry: HistoryEntry): Promise<boolean>
  clear(site: SiteId): Promise<void>
}

/** Leaves out the long text, and the site, which is the same for all content of a site. */
export const storedMembers = (content: Content, kind: ContentKind): Scalars => {
  const text = textMember(kind)
  return Object.fromEntries(Object.entries(content).filter(([name]) => name !== text && name !== 'siteId'))
}

/**
 * Makes content of stored members. Missing members are null. Lists have thousands of items: spreading objects takes half
 * the time of a loop over their members.
 */
export const contentReader = (site: SiteId, kind: ContentKind): ((members: Scalars) => Content) => {
  const members = Object.entries(contentMembers[kind]).filter(([, { type }]) => type !== 'text')
  const empty = Object.fromEntries(members.map(([name]) => [name, null]))
  const known = Object.hasOwn(empty, 'siteId') ? { siteId: site } : {}
  return (stored) => ({ ...empty, ...(stored as Content), ...known })
}

export const listWhole = async (contents: Contents, site: SiteId, kind: ContentKind, after: number, limit: number) => {
  const listed = await contents.list(site, kind, after, limit, true)
  const member = textMember(kind)
  if (member === undefined) return listed
  const ids = listed.map(({ id }) => id)
  const found = await contents.texts(site, kind, ids, true)
  return listed.map(({ id, content }) => ({ id, content: content && { ...content, [member]: found.get(id) ?? '' } }))
}
