import type { CategoryId, SiteId } from '../ids.ts'
import type { LinkedObject } from './category-lists.ts'
import { objectKinds } from './content-kinds.ts'
import type { LinkDeps } from './link-objects.ts'

/** How many links are read and deleted together. */
const step = 1_000

/** Walks over what `read` answers in order of id, a step at a time. */
const inSteps = async <Value>(
  read: (after: number) => Promise<readonly Value[]>,
  idOf: (value: Value) => number,
  handle: (values: readonly Value[]) => Promise<void>,
): Promise<void> => {
  for (let after = 0; ; ) {
    const values = await read(after)
    await handle(values)
    const last = values.at(-1)
    if (last === undefined || values.length < step) return
    after = idOf(last)
  }
}

const deleteLinksOfObject = ({ links }: LinkDeps, { site, kind, id }: LinkedObject): Promise<void> =>
  inSteps(
    (after) => links.categoriesOf(site, kind, id, after, step),
    (category) => category,
    (categories) => links.deleteOfObject(site, kind, id, categories),
  )

/**
 * Removes a news item or a blog with its links: mark, delete the links, delete. From the mark on nobody links it any more.
 * Repeating a removal that broke off completes it. Answers whether there was anything to remove. Errors: unavailable.
 */
export const removeObject = async (deps: LinkDeps, object: LinkedObject): Promise<boolean> => {
  const { site, kind, id } = object
  if (!(await deps.content.markRemoved(site, kind, id))) return false
  await deleteLinksOfObject(deps, object)
  await deps.content.delete(site, kind, id)
  // The index lags behind: a link that was written just before the mark may only show now.
  await deleteLinksOfObject(deps, object)
  return true
}

/**
 * Removes a category with its links: mark, delete the links, delete. From the mark on nothing is linked with it any more.
 * Repeating a removal that broke off completes it. Answers whether there was anything to remove. Errors: unavailable.
 */
export const removeCategory = async (deps: LinkDeps, site: SiteId, category: CategoryId): Promise<boolean> => {
  if (!(await deps.content.markRemoved(site, 'category', category))) return false
  for (const kind of objectKinds) {
    const list = { site, kind, category }
    await inSteps(
      (after) => deps.links.listConsistently(list, after, step),
      ({ id }) => id,
      (links) =>
        deps.links.deleteMany(
          list,
          links.map(({ id }) => id),
        ),
    )
  }
  await deps.content.delete(site, 'category', category)
  return true
}
