import { type Problem, ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { CategoryLinks, LinkList, LinkOutcome } from './category-links.ts'

/** An object to be linked. Without `displayable`, a link that exists keeps its own, and a new one is displayable. */
export interface LinkRequest {
  readonly objectId: number
  readonly displayable?: boolean | undefined
}

interface LinkDeps {
  readonly links: CategoryLinks
}

/** A wish for what has an id, and whether the link is displayable; undefined where that is not said. */
type Wish<Id> = readonly [id: Id, displayable: boolean | undefined]

/** Duplicates folded: of several wishes for one thing, the last one counts. */
export const foldWishes = <Id>(wishes: readonly Wish<Id>[]): ReadonlyMap<Id, boolean | undefined> => {
  const wanted = new Map<Id, boolean | undefined>()
  for (const [id, displayable] of wishes) wanted.set(id, displayable ?? wanted.get(id))
  return wanted
}

const fold = (items: readonly LinkRequest[]) =>
  foldWishes(items.map(({ objectId, displayable }) => [objectId, displayable]))

const problemsOf = (items: readonly LinkRequest[], unknown: ReadonlySet<number>, kind: string): Problem[] =>
  items.flatMap(({ objectId }, index) =>
    unknown.has(objectId)
      ? [{ path: `items[${index}].objectId`, message: `there is no ${kind} ${objectId} on this site` }]
      : [],
  )

/** How many ids an entry of the history names; of more, it has the number. */
export const mostNamed = 100

const entryOf = (
  type: ChangeType,
  { site, kind, category }: LinkList,
  ids: readonly number[],
  author: Author,
): HistoryEntry => {
  const [only, another] = ids
  const subject = `category/${category}/${kind}`
  if (only !== undefined && another === undefined) return { ...author, site, type, subject: `${subject}/${only}` }
  return { ...author, site, type, subject, details: { count: ids.length, ids: ids.slice(0, mostNamed) } }
}

/** Links objects with a category, all of them or none, and answers what became of that. Errors: unavailable. */
export const tryToLink = (
  { links }: LinkDeps,
  list: LinkList,
  items: readonly LinkRequest[],
  author: Author,
  remainingTime?: RemainingTime,
): Promise<LinkOutcome> => {
  const wanted = fold(items)
  return links.link(list, wanted, entryOf('link.added', list, [...wanted.keys()], author), remainingTime)
}

/**
 * Operations 7 and 10: links objects with a category, all of them or none. Linking again changes nothing; repeating after a
 * fault half-way completes what was begun. Errors: categoryUnknown; objectsUnknown, which lists each; unavailable.
 */
export const linkObjects = async (
  deps: LinkDeps,
  list: LinkList,
  items: readonly LinkRequest[],
  author: Author,
  remainingTime?: RemainingTime,
): Promise<void> => {
  const result = await tryToLink(deps, list, items, author, remainingTime)
  if (result.outcome === 'category unknown') throw new ServiceError('categoryUnknown')
  if (result.outcome === 'objects unknown') {
    throw new ServiceError('objectsUnknown', { problems: problemsOf(items, result.ids, list.kind) })
  }
}

/** Operations 8 and 11: removes links; those that are not there are no error. Errors: categoryUnknown, unavailable. */
export const unlinkObjects = async (
  { links }: LinkDeps,
  list: LinkList,
  ids: readonly number[],
  author: Author,
  remainingTime?: RemainingTime,
): Promise<void> => {
  const each = [...new Set(ids)]
  const entry = entryOf('link.removed', list, each, author)
  if (!(await links.unlink(list, each, entry, remainingTime))) throw new ServiceError('categoryUnknown')
}
