import { type Problem, ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { CategoryLinks, ObjectLinkOutcome } from './category-links.ts'
import type { SiteObject } from './contents.ts'
import { foldWishes, mostNamed } from './link-objects.ts'

/** A category that an object is to be linked with. Without `displayable`, a link that exists keeps its own, and a new one is displayable. */
export interface CategoryLinkRequest {
  readonly categoryId: CategoryId
  readonly displayable?: boolean | undefined
}

interface LinkDeps {
  readonly links: CategoryLinks
}

const problemsOf = (named: readonly CategoryId[], unknown: ReadonlySet<number>): Problem[] =>
  named.flatMap((id, index) =>
    unknown.has(id) ? [{ path: `items[${index}].categoryId`, message: `there is no category ${id} on this site` }] : [],
  )

const refuseUnknown = (outcome: ObjectLinkOutcome, named: readonly CategoryId[]): void => {
  if (outcome.outcome === 'object unknown') throw new ServiceError('objectUnknown')
  if (outcome.outcome === 'categories unknown') {
    throw new ServiceError('categoriesUnknown', { problems: problemsOf(named, outcome.ids) })
  }
}

/** One category is told as it is from its own side. */
const entryOf = (
  type: ChangeType,
  { site, kind, id }: SiteObject,
  categories: readonly CategoryId[],
  author: Author,
): HistoryEntry => {
  const [only, another] = categories
  if (only !== undefined && another === undefined) {
    return { ...author, site, type, subject: `category/${only}/${kind}/${id}` }
  }
  const details = { count: categories.length, categories: categories.slice(0, mostNamed) }
  return { ...author, site, type, subject: `${kind}/${id}`, details }
}

/**
 * Links an object with categories, all of them or none (decisions.md, section 4): operations 7 and 10 from the object's side, with
 * the same promises. Errors: objectUnknown; categoriesUnknown, which lists each; unavailable.
 */
export const linkCategories = async (
  { links }: LinkDeps,
  object: SiteObject,
  items: readonly CategoryLinkRequest[],
  author: Author,
  remainingTime?: RemainingTime,
): Promise<void> => {
  const wanted = foldWishes(items.map(({ categoryId, displayable }) => [categoryId, displayable]))
  const entry = entryOf('link.added', object, [...wanted.keys()], author)
  refuseUnknown(
    await links.linkObject(object, wanted, entry, remainingTime),
    items.map(({ categoryId }) => categoryId),
  )
}

/**
 * Removes the links of an object with categories; those that are not there are no error. All of the categories must exist, or nothing
 * is removed. Errors: objectUnknown; categoriesUnknown, which lists each; unavailable.
 */
export const unlinkCategories = async (
  { links }: LinkDeps,
  object: SiteObject,
  categories: readonly CategoryId[],
  author: Author,
  remainingTime?: RemainingTime,
): Promise<void> => {
  const each = [...new Set(categories)]
  const entry = entryOf('link.removed', object, each, author)
  refuseUnknown(await links.unlinkObject(object, each, entry, remainingTime), categories)
}
