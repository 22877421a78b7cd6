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
 * The port to links. Removing a category or an object (`Contents`) removes its links. `linkObject` and `unlinkObject`
 * are `link` and `unlink` from the object's side: all of the categories must exist. Errors: unavailable.
 */
export interface CategoryLinks {
  // The links after an object's id, in order of id, up to `limit`; fewer only at the end.
  list(list: LinkList, after: number, limit: number): Promise<readonly CategoryLink[]>
  listConsistently(list: LinkList, after: number, limit: number): Promise<readonly CategoryLink[]>
  count(list: LinkList, after: number, limit: number): Promise<Count>
  // The categories of an object after an id, in order; fewer than `limit` only at the end. May lag behind changes.
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
   * Links all of these objects, or none. An undefined `displayable` keeps that of an existing link; a new link is
   * displayable. Safe to repeat; concurrent calls are serialized. If the time is up (unlimited by default), nothing is
   * linked, now or later.
   */
  link(
    list: LinkList,
    wanted: ReadonlyMap<number, boolean | undefined>,
    entry: HistoryEntry,
    deadline?: Deadline,
  ): Promise<LinkOutcome>
  /**
   * As `link`: safe to repeat, without late effects. Missing links are no error. Returns false if the category is
   * unknown.
   */
  unlink(list: LinkList, ids: readonly number[], entry: HistoryEntry, deadline?: Deadline): Promise<boolean>
}
