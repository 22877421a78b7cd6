import {
  type CategoryLinks,
  isList,
  type LinkEnd,
  type LinkOutcome,
  linkOf,
  linksOf,
} from '../../categories/category-links.ts'
import type { Contents } from '../../categories/contents.ts'
import { type Deadline, reserves, unlimited } from '../../core/time.ts'
import { createContents } from './content-items.ts'
import type { RecordChange, RecordingOptions } from './journal.ts'
import { createLinkItems, type LinkItems, type LinkName } from './link-items.ts'

interface CategoryItems {
  readonly contents: Contents
  readonly links: LinkItems
}

const refusalOf = async (
  { contents }: CategoryItems,
  end: LinkEnd,
  others: readonly number[],
): Promise<LinkOutcome | undefined> => {
  const { site, kind } = end
  const [own, ownKind, otherKind] = isList(end)
    ? ([end.category, 'category', kind] as const)
    : ([end.id, kind, 'category'] as const)
  const [around, known] = await Promise.all([
    contents.existing(site, ownKind, [own]),
    contents.existing(site, otherKind, others),
  ])
  if (!around.has(own)) return { outcome: 'end unknown' }
  const unknown = others.filter((id) => !known.has(id))
  return unknown.length > 0 ? { outcome: 'others unknown', ids: new Set(unknown) } : undefined
}

const undoLinksOfRemoved = async (
  { contents, links }: CategoryItems,
  { site, kind }: LinkEnd,
  written: readonly LinkName[],
  deadline: Deadline,
): Promise<void> => {
  using undoing = deadline.reserving(reserves.answer)
  undoing.check()
  const [categories, objects] = await Promise.all([
    contents.existing(site, 'category', [...new Set(written.map(({ category }) => category))]),
    contents.existing(site, kind, [...new Set(written.map(({ id }) => id))]),
  ])
  const isLeftOver = ({ category, id }: LinkName) => !categories.has(category) || !objects.has(id)
  await links.deleteMany(written.filter(isLeftOver), undoing)
}

const createCategoryLinks = (items: CategoryItems, record: RecordChange): CategoryLinks => {
  const { links } = items
  return {
    ...links,

    async link(end, wanted, entry, deadline = unlimited) {
      const [refusal, found] = await Promise.all([
        refusalOf(items, end, [...wanted.keys()]),
        links.withStored([...wanted].map(([other, flag]) => ({ ...linkOf(end, other), wanted: flag }))),
      ])
      if (refusal) {
        // An earlier request may have ended after its writes, before it checked both ends of its links again.
        const present = found.filter(({ stored }) => stored !== undefined)
        if (present.length > 0) await undoLinksOfRemoved(items, end, present, deadline)
        return refusal
      }
      // The caller has set the flag of some links. Another request may set the flag of the others at this moment.
      const flagged = found.filter(({ wanted: flag, stored }) => flag !== undefined && flag !== stored)
      const plain = found.filter(({ wanted: flag, stored }) => flag === undefined && stored === undefined)
      const written = [...flagged, ...plain]
      if (written.length === 0) return { outcome: 'done' }
      const lookAgain = () => undoLinksOfRemoved(items, end, written, deadline)
      try {
        using writing = deadline.reserving(reserves.settle)
        await links.putMany(flagged, writing)
        await links.addMany(plain, writing)
      } catch (error) {
        // The call failed, but some links may have been written.
        await lookAgain()
        throw error
      }
      // An undone link was visible for a moment, so the history records it, too.
      const recorded = record(entry, deadline)
      await lookAgain().finally(() => recorded)
      return { outcome: 'done' }
    },

    async unlink(end, others, entry, deadline = unlimited) {
      const refusal = await refusalOf(items, end, isList(end) ? [] : others)
      if (refusal) return refusal
      using deleting = deadline.reserving(reserves.settle)
      await links.deleteMany(linksOf(end, others), deleting)
      await record(entry, deadline)
      return { outcome: 'done' }
    },
  }
}

type Options = Omit<RecordingOptions, 'table'> & Readonly<Record<'contentTable' | 'categoryLinksTable', string>>

/**
 * Contents and their links are in two tables, so no write covers both. A removal flags the object, deletes its links,
 * then deletes the object. A new link is checked, written, and checked again. If a removal began between the two
 * checks, the second check finds the flag of the removal and undoes the link.
 */
export const createCategoryStores = ({ contentTable, categoryLinksTable, record, ...options }: Options) => {
  const links = createLinkItems({ ...options, table: categoryLinksTable })
  const contents = createContents({ ...options, table: contentTable, record, links })
  return { contents, links: createCategoryLinks({ contents, links }, record) }
}
