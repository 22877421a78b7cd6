import type { ObjectKind } from '../core/content-kinds.ts'
import { type Problem, ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId, SiteId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'
import type { Count, SiteObject } from './contents.ts'

export interface LinkList {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly category: CategoryId
}

export interface CategoryLink {
  readonly id: number
  readonly displayable: boolean
}

/** A category with the kind of its objects, or an object. The other ends of its links are named by their ids. */
export type LinkEnd = LinkList | SiteObject

export const isList = (end: LinkEnd): end is LinkList => 'category' in end

export const linkOf = (end: LinkEnd, other: number): LinkList & SiteObject =>
  isList(end) ? { ...end, id: other } : { ...end, category: other as CategoryId }

export const linksOf = (end: LinkEnd, others: readonly number[]) => others.map((other) => linkOf(end, other))

export type LinkOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'end unknown' }
  | { readonly outcome: 'others unknown'; readonly ids: ReadonlySet<number> }

type WantedLinks = ReadonlyMap<number, boolean | undefined>

/** The port to links. When a category or an object is removed (`Contents`), its links are removed too. Errors: unavailable. */
export interface CategoryLinks {
  // `list` and `categoriesOf` return up to `limit` links of a category, or categories of an object, with ids above
  // `after`, sorted by id. Only the last page has fewer. Only with `isConsistent`, the answer does not lag behind changes.
  list(list: LinkList, after: number, limit: number, isConsistent?: boolean): Promise<readonly CategoryLink[]>
  count(list: LinkList, after: number, limit: number): Promise<Count>
  categoriesOf(object: SiteObject, after: number, limit: number): Promise<readonly CategoryId[]>
  countCategoriesOf(object: SiteObject, after: number, limit: number): Promise<Count>
  /**
   * Makes all of these links, or none. If `displayable` is undefined, an existing link keeps its value, and a new
   * link is displayable. Repeating is safe, and concurrent calls run one after the other. If the time is up (unlimited
   * by default), nothing is linked, now or later.
   */
  link(end: LinkEnd, wanted: WantedLinks, entry: HistoryEntry, deadline?: Deadline): Promise<LinkOutcome>
  /**
   * As with `link`, repeating is safe, and nothing happens after the answer. Missing links are not an error. The objects
   * of a category need not exist, but the categories of an object must exist (C-43, C-48).
   */
  unlink(end: LinkEnd, others: readonly number[], entry: HistoryEntry, deadline?: Deadline): Promise<LinkOutcome>
}

export interface LinkRequest {
  readonly id: number
  readonly displayable?: boolean | undefined
}

type LinkChange<Result> = (
  deps: { readonly links: CategoryLinks },
  end: LinkEnd,
  items: readonly LinkRequest[],
  author: Author,
  deadline?: Deadline,
) => Promise<Result>

const mostListed = 100

const entryOf = (type: ChangeType, end: LinkEnd, others: readonly number[], author: Author): HistoryEntry => {
  const { site, kind } = end
  const [only = 0] = others
  const { category, id } = linkOf(end, only)
  const ofCategory = `category/${category}/${kind}`
  if (others.length === 1) return { ...author, site, type, subject: `${ofCategory}/${id}` }
  const [subject, listed] = isList(end) ? [ofCategory, 'ids'] : [`${kind}/${id}`, 'categories']
  return { ...author, site, type, subject, details: { count: others.length, [listed]: others.slice(0, mostListed) } }
}

const refuseUnknown = (result: LinkOutcome, end: LinkEnd, items: readonly LinkRequest[]): void => {
  const names = isList(end)
    ? ({ end: 'categoryUnknown', others: 'objectsUnknown', member: 'objectId', kind: end.kind } as const)
    : ({ end: 'objectUnknown', others: 'categoriesUnknown', member: 'categoryId', kind: 'category' } as const)
  if (result.outcome === 'end unknown') throw new ServiceError(names.end)
  if (result.outcome === 'done') return
  const problems = items.flatMap(({ id }, index): Problem[] =>
    result.ids.has(id)
      ? [{ path: `items[${index}].${names.member}`, message: `there is no ${names.kind} ${id} on this site` }]
      : [],
  )
  throw new ServiceError(names.others, { problems })
}

export const tryToLink: LinkChange<LinkOutcome> = ({ links }, end, items, author, deadline) => {
  const wanted = new Map<number, boolean | undefined>()
  for (const { id, displayable } of items) wanted.set(id, displayable ?? wanted.get(id))
  return links.link(end, wanted, entryOf('link.added', end, [...wanted.keys()], author), deadline)
}

/**
 * Makes all of the links, or none. Repeating is safe. Errors: categoryUnknown and objectsUnknown, or objectUnknown and
 * categoriesUnknown (C-46), with each unknown id; unavailable.
 */
export const link: LinkChange<void> = async (deps, end, items, author, deadline) =>
  refuseUnknown(await tryToLink(deps, end, items, author, deadline), end, items)

export const unlink: LinkChange<void> = async ({ links }, end, items, author, deadline) => {
  const others = [...new Set(items.map(({ id }) => id))]
  const result = await links.unlink(end, others, entryOf('link.removed', end, others, author), deadline)
  refuseUnknown(result, end, items)
}
