import type { CategoryLinks, LinkList, LinkOutcome, ObjectLinkOutcome } from '../../categories/category-links.ts'
import type { Contents, SiteObject } from '../../categories/contents.ts'
import type { CategoryId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type RemainingTime, unlimited } from '../../core/remaining-time.ts'
import { inTime, timeToSettle } from '../calls/in-time.ts'
import type { RecordChange } from './journal.ts'
import type { LinkItems } from './link-items.ts'

/** Links as `CategoryLinks.link` does, but writes nothing down. Answers whether it has changed anything, too. */
export type MakeLinks = (
  list: LinkList,
  wanted: ReadonlyMap<number, boolean | undefined>,
  remainingTime: RemainingTime,
) => Promise<{ readonly outcome: LinkOutcome; readonly hasChanged: boolean }>

interface Options {
  readonly contents: Pick<Contents, 'get' | 'existing'>
  readonly linkItems: Pick<LinkItems, 'deleteOfObject'>
  readonly makeLinks: MakeLinks
  readonly record: RecordChange
}

const linksAtOnce = 16

/**
 * Links from the object's side: everything is checked first, then each link is made as it is from its category's side, with the same
 * second look. What is removed after the check leaves things as if it had been linked first. A failure half-way leaves some links, and
 * repeating completes them.
 */
export const createObjectLinks = ({
  contents,
  linkItems,
  makeLinks,
  record,
}: Options): Pick<CategoryLinks, 'linkObject' | 'unlinkObject'> => {
  /** Why the links of an object with these categories cannot be changed. */
  const refusal = async (
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
    async linkObject(object, wanted, entry, remainingTime = unlimited) {
      const refused = await refusal(object, [...wanted.keys()])
      if (refused) return refused
      const { site, kind, id } = object
      let isAnyNew = false
      await inParallel(wanted, linksAtOnce, async ([category, displayable]) => {
        const wish = new Map([[id, displayable]])
        const { hasChanged } = await makeLinks({ site, kind, category }, wish, remainingTime)
        isAnyNew ||= hasChanged
      })
      if (isAnyNew) await record(entry, remainingTime)
      return { outcome: 'done' }
    },

    async unlinkObject(object, categories, entry, remainingTime = unlimited) {
      const refused = await refusal(object, categories)
      if (refused) return refused
      await inTime(remainingTime, timeToSettle, (allowance) => linkItems.deleteOfObject(object, categories, allowance))
      await record(entry, remainingTime)
      return { outcome: 'done' }
    },
  }
}
