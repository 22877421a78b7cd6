import type { CategoryLink, LinkList, LinkOutcome } from '../../categories/category-links.ts'
import { type Deadline, reserves } from '../../core/deadline.ts'
import type { ContentItems } from './content-items.ts'
import type { LinkItems } from './link-items.ts'

export interface CategoryItems {
  readonly contents: ContentItems
  readonly links: LinkItems
}

export const categoryExists = async ({ contents }: CategoryItems, { site, category }: LinkList): Promise<boolean> =>
  (await contents.get(site, 'category', category)) !== undefined

/**
 * `put` are links whose displayable flag the caller names. `add` are new ones without it, which another request may be
 * naming now.
 */
const changesOf = (
  wanted: ReadonlyMap<number, boolean | undefined>,
  present: ReadonlyMap<number, CategoryLink>,
): { readonly put: readonly CategoryLink[]; readonly add: readonly number[] } => ({
  put: [...wanted].flatMap(([id, displayable]) =>
    displayable === undefined || present.get(id)?.displayable === displayable ? [] : [{ id, displayable }],
  ),
  add: [...wanted].filter(([id, displayable]) => displayable === undefined && !present.has(id)).map(([id]) => id),
})

const undoLinksOfRemoved = async (
  items: CategoryItems,
  list: LinkList,
  written: readonly number[],
  deadline: Deadline,
): Promise<void> => {
  using undoing = deadline.reserving(reserves.answer)
  undoing.check()
  const [isThere, existing] = await Promise.all([
    categoryExists(items, list),
    items.contents.existing(list.site, list.kind, written),
  ])
  await items.links.deleteMany(list, isThere ? written.filter((id) => !existing.has(id)) : written, undoing)
}

interface MadeLinks {
  readonly outcome: LinkOutcome
  readonly hasChanged: boolean
}

/** `CategoryLinks.link` without its history entry. */
export const makeLinks = async (
  items: CategoryItems,
  list: LinkList,
  wanted: ReadonlyMap<number, boolean | undefined>,
  deadline: Deadline,
): Promise<MadeLinks> => {
  const { contents, links } = items
  const ids = [...wanted.keys()]
  const [isThere, existing, present] = await Promise.all([
    categoryExists(items, list),
    contents.existing(list.site, list.kind, ids),
    links.getMany(list, ids),
  ])
  const unknown = ids.filter((id) => !existing.has(id))
  if (!isThere || unknown.length > 0) {
    // A request that died between its writes and its second look has left them.
    const leftOver = [...present.keys()].filter((id) => !isThere || !existing.has(id))
    if (leftOver.length > 0) await undoLinksOfRemoved(items, list, leftOver, deadline)
    const outcome: LinkOutcome = isThere
      ? { outcome: 'objects unknown', ids: new Set(unknown) }
      : { outcome: 'category unknown' }
    return { outcome, hasChanged: false }
  }
  const { put, add } = changesOf(wanted, present)
  const changed = [...put.map(({ id }) => id), ...add]
  if (changed.length > 0) {
    try {
      using writing = deadline.reserving(reserves.settle)
      await links.putMany(list, put, writing)
      await links.addMany(list, add, writing)
    } finally {
      // Also after a failure: some may have been written.
      await undoLinksOfRemoved(items, list, changed, deadline)
    }
  }
  return { outcome: { outcome: 'linked' }, hasChanged: changed.length > 0 }
}
