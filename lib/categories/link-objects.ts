import { type Problem, ServiceError } from '../errors.ts'
import type { CategoryLink, CategoryLinksTable, LinkList } from './category-links-table.ts'
import type { ContentTable } from './content-table.ts'

export interface LinkDeps {
  readonly content: ContentTable
  readonly links: CategoryLinksTable
}

/** An object to be linked. Without `displayable`, a link that exists keeps its own, and a new one is displayable. */
export interface LinkRequest {
  readonly objectId: number
  readonly displayable?: boolean | undefined
}

const exists = async ({ content }: LinkDeps, { site, category }: LinkList): Promise<boolean> =>
  (await content.get(site, 'category', category)) !== undefined

const unknownObjects = (items: readonly LinkRequest[], existing: ReadonlySet<number>, kind: string): Problem[] =>
  items.flatMap(({ objectId }, index) =>
    existing.has(objectId)
      ? []
      : [{ path: `items[${index}].objectId`, message: `there is no ${kind} ${objectId} on this site` }],
  )

/** Duplicates folded: of several wishes for one object, the last one counts. */
const fold = (items: readonly LinkRequest[]): ReadonlyMap<number, boolean | undefined> => {
  const wanted = new Map<number, boolean | undefined>()
  for (const { objectId, displayable } of items) wanted.set(objectId, displayable ?? wanted.get(objectId))
  return wanted
}

/** The links to be written: new ones, and those that change. */
const changes = (
  wanted: ReadonlyMap<number, boolean | undefined>,
  present: ReadonlyMap<number, CategoryLink>,
): CategoryLink[] =>
  [...wanted].flatMap(([id, wish]) => {
    const before = present.get(id)
    const displayable = wish ?? before?.displayable ?? true
    return before?.displayable === displayable ? [] : [{ id, displayable }]
  })

/**
 * Takes back the links of what was removed while they were written. Whoever removes marks it first, then deletes the links
 * that there are: a link written too late for that was written after the mark, so looking again now finds the mark. What is left is as if
 * the objects had been linked first and removed then.
 */
const undoLinksOfRemoved = async (deps: LinkDeps, list: LinkList, written: readonly number[]): Promise<void> => {
  const [categoryExists, existing] = await Promise.all([
    exists(deps, list),
    deps.content.existing(list.site, list.kind, written),
  ])
  await deps.links.deleteMany(list, categoryExists ? written.filter((id) => !existing.has(id)) : written)
}

/**
 * Operations 7 and 10: links objects with a category, all of them or none. Linking again changes nothing; repeating after a
 * fault half-way completes what was begun. Errors: categoryUnknown; objectsUnknown, which lists each; unavailable.
 */
export const linkObjects = async (deps: LinkDeps, list: LinkList, items: readonly LinkRequest[]): Promise<void> => {
  const wanted = fold(items)
  const ids = [...wanted.keys()]
  const [categoryExists, existing, present] = await Promise.all([
    exists(deps, list),
    deps.content.existing(list.site, list.kind, ids),
    deps.links.getMany(list, ids),
  ])
  const problems = unknownObjects(items, existing, list.kind)
  if (!categoryExists || problems.length > 0) {
    // Links of what is gone can only be left over from a request that died between its writes and its second look.
    const leftOver = [...present.keys()].filter((id) => !categoryExists || !existing.has(id))
    if (leftOver.length > 0) await undoLinksOfRemoved(deps, list, leftOver)
    throw categoryExists ? new ServiceError('objectsUnknown', { problems }) : new ServiceError('categoryUnknown')
  }

  const links = changes(wanted, present)
  if (links.length === 0) return
  await deps.links.putMany(list, links)
  await undoLinksOfRemoved(
    deps,
    list,
    links.map(({ id }) => id),
  )
}

/** Operations 8 and 11: removes links; those that are not there are no error. Errors: categoryUnknown, unavailable. */
export const unlinkObjects = async (deps: LinkDeps, list: LinkList, ids: readonly number[]): Promise<void> => {
  if (!(await exists(deps, list))) throw new ServiceError('categoryUnknown')
  await deps.links.deleteMany(list, [...new Set(ids)])
}
