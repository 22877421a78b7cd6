import type { CategoryLinks, ObjectLinkOutcome } from '../../categories/category-links.ts'
import type { SiteObject } from '../../categories/contents.ts'
import { reserves, unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { RecordChange } from './journal.ts'
import { type CategoryItems, makeLinks } from './make-links.ts'

const linksAtOnce = 16

/**
 * Links from the object's side (C-46): checks everything first, then makes each link as from its category's side. A
 * failure may leave some links, and repeating completes them.
 */
export const createObjectLinks = (
  items: CategoryItems,
  record: RecordChange,
): Pick<CategoryLinks, 'linkObject' | 'unlinkObject'> => {
  const { contents, links } = items

  const findRefusal = async (
    { site, kind, id }: SiteObject,
    categories: readonly CategoryId[],
  ): Promise<ObjectLinkOutcome | undefined> => {
    const [object, existing] = await Promise.all([
      contents.get(site, kind, id),
      contents.existing(site, 'category', categories),
    ])
    if (!object) return { outcome: 'object unknown' }
    const unknown = categories.filter((category) => !existing.has(category))
    return unknown.length > 0 ? { outcome: 'categories unknown', ids: new Set(unknown) } : undefined
  }

  return {
    async linkObject(object, wanted, entry, deadline = unlimited) {
      const refusal = await findRefusal(object, [...wanted.keys()])
      if (refusal) return refusal
      const { site, kind, id } = object
      let isAnyNew = false
      await inParallel(wanted, linksAtOnce, async ([category, displayable]) => {
        const { hasChanged } = await makeLinks(items, { site, kind, category }, new Map([[id, displayable]]), deadline)
        isAnyNew ||= hasChanged
      })
      if (isAnyNew) await record(entry, deadline)
      return { outcome: 'done' }
    },

    async unlinkObject(object, categories, entry, deadline = unlimited) {
      const refusal = await findRefusal(object, categories)
      if (refusal) return refusal
      using deleting = deadline.reserving(reserves.settle)
      await links.deleteOfObject(object, categories, deleting)
      await record(entry, deadline)
      return { outcome: 'done' }
    },
  }
}
