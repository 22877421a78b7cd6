import type { CategoryLinks, LinkList, LinkOutcome, ObjectLinkOutcome } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import { type Deadline, reserves, unlimited } from '../../core/deadline.ts'
import type { CategoryId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { RecordChange } from './journal.ts'
import type { LinkItems } from './link-items.ts'

/** `CategoryLinks.link` without its history entry. */
export type MakeLinks = (
  list: LinkList,
  wanted: ReadonlyMap<number, boolean | undefined>,
  deadline: Deadline,
) => Promise<{ readonly outcome: LinkOutcome; readonly hasChanged: boolean }>

interface Options {
  readonly contents: Pick<Contents, 'get' | 'existing'>
  readonly linkItems: Pick<LinkItems, 'deleteOfObject'>
  readonly makeLinks: MakeLinks
  readonly record: RecordChange
}

const linksAtOnce = 16

/**
 * Links from the object's side (C-46): checks everything first, then makes each link as from its category's side. A
 * failure may leave some links, and repeating completes them.
 */
export const createObjectLinks = ({
  contents,
  linkItems,
  makeLinks,
  record,
}: Options): Pick<CategoryLinks, 'linkObject' | 'unlinkObject'> => {
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
        const { hasChanged } = await makeLinks({ site, kind, category }, new Map([[id, displayable]]), deadline)
        isAnyNew ||= hasChanged
      })
      if (isAnyNew) await record(entry, deadline)
      return { outcome: 'done' }
    },

    async unlinkObject(object, categories, entry, deadline = unlimited) {
      const refusal = await findRefusal(object, categories)
      if (refusal) return refusal
      using deleting = deadline.reserving(reserves.settle)
      await linkItems.deleteOfObject(object, categories, deleting)
      await record(entry, deadline)
      return { outcome: 'done' }
    },
  }
}
