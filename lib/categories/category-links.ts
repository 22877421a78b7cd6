import type { ObjectKind } from '../core/content-kinds.ts'
import type { Deadline } from '../core/deadline.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId, SiteId } from '../core/ids.ts'
import type { Count, SiteObject } from './contents.ts'

export interface LinkList {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly category: CategoryId
}

export interface CategoryLink {
  readonly id: number
  readonly displayable: boolean
}

export type LinkOutcome =
  | { readonly outcome: 'linked' | 'category unknown' }
  | { readonly outcome: 'objects unknown'; readonly ids: ReadonlySet<number> }

export type ObjectLinkOutcome =
  | { readonly outcome: 'done' | 'object unknown' }
  | { readonly outcome: 'categories unknown'; readonly ids: ReadonlySet<number> }

/**
 * The port to links. When a category or an object is removed (`Contents`), its links are removed too. `linkObject` and
 * `unlinkObject` are `link` and `unlink` from the side of the object: all of the categories must exist. Errors:
 * unavailable.
 */
export interface CategoryLinks {
  // Returns up to `limit` links to objects with ids above `after`, sorted by id. Only the last page has fewer.
  // With `isConsistent`, the answer does not lag behind changes.
  list(list: LinkList, after: number, limit: number, isConsistent?: boolean): Promise<readonly CategoryLink[]>
  count(list: LinkList, after: number, limit: number): Promise<Count>
  // Returns up to `limit` categories of an object with ids above `after`, sorted. Only the last page has fewer. The
  // answer may lag behind changes.
  categoriesOf(object: SiteObject, after: number, limit: number): Promise<readonly CategoryId[]>
  countCategoriesOf(object: SiteObject, after: number, limit: number): Promise<Count>
  linkObject(
    object: SiteObject,
    wanted: ReadonlyMap<CategoryId, boolean | undefined>,
    entry: HistoryEntry,
    deadline?: Deadline,
  ): Promise<ObjectLinkOutcome>
  unlinkObject(
    object: SiteObject,
    categories: readonly CategoryId[],
    entry: HistoryEntry,
    deadline?: Deadline,
  ): Promise<ObjectLinkOutcome>
  /**
   * Links all of these objects, or none. If `displayable` is undefined, an existing link keeps its value, and a new
   * link is displayable. Repeating is safe, and concurrent calls run one after the other. If the time is up (unlimited
   * by default), nothing is linked, now or later.
   */
  link(
    list: LinkList,
    wanted: ReadonlyMap<number, boolean | undefined>,
    entry: HistoryEntry,
    deadline?: Deadline,
  ): Promise<LinkOutcome>
  /**
   * As with `link`, repeating is safe, and nothing happens after the answer. Missing links are not an error. Returns
   * false if the category is unknown.
   */
  unlink(list: LinkList, ids: readonly number[], entry: HistoryEntry, deadline?: Deadline): Promise<boolean>
}
