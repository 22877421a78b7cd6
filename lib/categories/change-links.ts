import type { Deadline } from '../core/deadline.ts'
import { type Problem, ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId } from '../core/ids.ts'
import type { CategoryLinks, LinkList, LinkOutcome, ObjectLinkOutcome } from './category-links.ts'
import type { SiteObject } from './contents.ts'

// Without `displayable`, an existing link keeps its value, and a new link is displayable (C-40).
interface LinkRequest {
  readonly objectId: number
  readonly displayable?: boolean | undefined
}

interface CategoryLinkRequest {
  readonly categoryId: CategoryId
  readonly displayable?: boolean | undefined
}

interface LinkDeps {
  readonly links: CategoryLinks
}

const mergeRequests = <Id>(requests: readonly (readonly [Id, boolean | undefined])[]) => {
  const wanted = new Map<Id, boolean | undefined>()
  for (const [id, displayable] of requests) wanted.set(id, displayable ?? wanted.get(id))
  return wanted
}

const problemsOf = (ids: readonly number[], unknown: ReadonlySet<number>, member: string, kind: string): Problem[] =>
  ids.flatMap((id, index) =>
    unknown.has(id) ? [{ path: `items[${index}].${member}`, message: `there is no ${kind} ${id} on this site` }] : [],
  )

const mostListed = 100

const entryOf = (type: ChangeType, { site, kind, category }: LinkList, ids: readonly number[], author: Author) => {
  const subject = `category/${category}/${kind}`
  if (ids.length === 1) return { ...author, site, type, subject: `${subject}/${ids[0]}` }
  return { ...author, site, type, subject, details: { count: ids.length, ids: ids.slice(0, mostListed) } }
}

const objectEntryOf = (
  type: ChangeType,
  { site, kind, id }: SiteObject,
  categories: readonly CategoryId[],
  author: Author,
): HistoryEntry => {
  const [only] = categories
  if (only !== undefined && categories.length === 1) return entryOf(type, { site, kind, category: only }, [id], author)
  const details = { count: categories.length, categories: categories.slice(0, mostListed) }
  return { ...author, site, type, subject: `${kind}/${id}`, details }
}

export const tryToLink = (
  { links }: LinkDeps,
  list: LinkList,
  items: readonly LinkRequest[],
  author: Author,
  deadline?: Deadline,
): Promise<LinkOutcome> => {
  const wanted = mergeRequests(items.map(({ objectId, displayable }) => [objectId, displayable] as const))
  return links.link(list, wanted, entryOf('link.added', list, [...wanted.keys()], author), deadline)
}

/**
 * As with `tryToLink`, repeating is safe. Errors: categoryUnknown; objectsUnknown, which lists each object;
 * unavailable.
 */
export const linkObjects = async (
  deps: LinkDeps,
  list: LinkList,
  items: readonly LinkRequest[],
  author: Author,
  deadline?: Deadline,
): Promise<void> => {
  const result = await tryToLink(deps, list, items, author, deadline)
  if (result.outcome === 'category unknown') throw new ServiceError('categoryUnknown')
  if (result.outcome === 'objects unknown') {
    const ids = items.map(({ objectId }) => objectId)
    throw new ServiceError('objectsUnknown', { problems: problemsOf(ids, result.ids, 'objectId', list.kind) })
  }
}

/** C-43. Errors: categoryUnknown, unavailable. */
export const unlinkObjects = async (
  { links }: LinkDeps,
  list: LinkList,
  ids: readonly number[],
  author: Author,
  deadline?: Deadline,
): Promise<void> => {
  const each = [...new Set(ids)]
  const entry = entryOf('link.removed', list, each, author)
  if (!(await links.unlink(list, each, entry, deadline))) throw new ServiceError('categoryUnknown')
}

const refuseUnknown = (result: ObjectLinkOutcome, ids: readonly CategoryId[]): void => {
  if (result.outcome === 'object unknown') throw new ServiceError('objectUnknown')
  if (result.outcome === 'categories unknown') {
    throw new ServiceError('categoriesUnknown', { problems: problemsOf(ids, result.ids, 'categoryId', 'category') })
  }
}

/**
 * C-46: links all of the categories or none. Errors: objectUnknown; categoriesUnknown, which lists each category;
 * unavailable.
 */
export const linkCategories = async (
  { links }: LinkDeps,
  object: SiteObject,
  items: readonly CategoryLinkRequest[],
  author: Author,
  deadline?: Deadline,
): Promise<void> => {
  const wanted = mergeRequests(items.map(({ categoryId, displayable }) => [categoryId, displayable] as const))
  const entry = objectEntryOf('link.added', object, [...wanted.keys()], author)
  const ids = items.map(({ categoryId }) => categoryId)
  refuseUnknown(await links.linkObject(object, wanted, entry, deadline), ids)
}

/** All of the categories must exist (C-48). Errors: as `linkCategories`. */
export const unlinkCategories = async (
  { links }: LinkDeps,
  object: SiteObject,
  categories: readonly CategoryId[],
  author: Author,
  deadline?: Deadline,
): Promise<void> => {
  const each = [...new Set(categories)]
  const entry = objectEntryOf('link.removed', object, each, author)
  refuseUnknown(await links.unlinkObject(object, each, entry, deadline), categories)
}
