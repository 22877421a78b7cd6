import { type Problem, ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { Deadline } from '../core/time.ts'
import { type CategoryLinks, isList, type LinkEnd, type LinkOutcome, linkOf } from './category-links.ts'

export interface LinkRequest {
  readonly id: number
  readonly displayable?: boolean | undefined
}

interface LinkDeps {
  readonly links: CategoryLinks
}

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

const refuseUnknown = (result: LinkOutcome, end: LinkEnd, others: readonly number[]): void => {
  const names = isList(end)
    ? ({ end: 'categoryUnknown', others: 'objectsUnknown', member: 'objectId', kind: end.kind } as const)
    : ({ end: 'objectUnknown', others: 'categoriesUnknown', member: 'categoryId', kind: 'category' } as const)
  if (result.outcome === 'end unknown') throw new ServiceError(names.end)
  if (result.outcome === 'done') return
  const problems = others.flatMap((id, index): Problem[] =>
    result.ids.has(id)
      ? [{ path: `items[${index}].${names.member}`, message: `there is no ${names.kind} ${id} on this site` }]
      : [],
  )
  throw new ServiceError(names.others, { problems })
}

export const tryToLink = (
  { links }: LinkDeps,
  end: LinkEnd,
  items: readonly LinkRequest[],
  author: Author,
  deadline?: Deadline,
): Promise<LinkOutcome> => {
  const wanted = new Map<number, boolean | undefined>()
  for (const { id, displayable } of items) wanted.set(id, displayable ?? wanted.get(id))
  return links.link(end, wanted, entryOf('link.added', end, [...wanted.keys()], author), deadline)
}

/**
 * Makes all of the links, or none. Repeating is safe. Errors: categoryUnknown and objectsUnknown, or objectUnknown and
 * categoriesUnknown (C-46), with each unknown id; unavailable.
 */
export const link = async (
  deps: LinkDeps,
  end: LinkEnd,
  items: readonly LinkRequest[],
  author: Author,
  deadline?: Deadline,
): Promise<void> => {
  const result = await tryToLink(deps, end, items, author, deadline)
  const others = items.map(({ id }) => id)
  refuseUnknown(result, end, others)
}

export const unlink = async (
  { links }: LinkDeps,
  end: LinkEnd,
  others: readonly number[],
  author: Author,
  deadline?: Deadline,
): Promise<void> => {
  const each = [...new Set(others)]
  const result = await links.unlink(end, each, entryOf('link.removed', end, each, author), deadline)
  refuseUnknown(result, end, others)
}
