import type { ObjectKind } from '../core/content-kinds.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId, SiteId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'
import type { Count, SiteObject } from './contents.ts'

/** The objects of one kind that a category is linked with. */
export interface LinkList {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly category: CategoryId
}

export interface CategoryLink {
  /** The id of the linked object. */
  readonly id: number
  readonly displayable: boolean
}

/** What became of a wish to link: done, or nothing was changed because the category, or some objects, do not exist. */
export type LinkOutcome =
  | { readonly outcome: 'linked' }
  | { readonly outcome: 'category unknown' }
  | { readonly outcome: 'objects unknown'; readonly ids: ReadonlySet<number> }

/** What became of a wish to link an object with categories, or to unlink it: done, or nothing was changed. */
export type ObjectLinkOutcome =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'object unknown' }
  | { readonly outcome: 'categories unknown'; readonly ids: ReadonlySet<number> }

/**
 * The port to the links between categories and objects of the sites of a data centre. A link is there only while its category and
 * its object are: who removes one of them takes its links along (`Contents`). Errors of every call: unavailable.
 */
export interface CategoryLinks {
  /** The links behind an object's id, in order of id, up to `limit`; fewer only at the end. */
  list(list: LinkList, after: number, limit: number): Promise<readonly CategoryLink[]>
  /** As `list`, with every link that was made before. */
  listConsistently(list: LinkList, after: number, limit: number): Promise<readonly CategoryLink[]>
  count(list: LinkList, after: number, limit: number): Promise<Count>
  /** The categories behind a category's id that an object is linked with, in order of id, up to `limit`; fewer only at the end. May lag moments behind changes. */
  categoriesOf(object: SiteObject, after: number, limit: number): Promise<readonly CategoryId[]>
  countCategoriesOf(object: SiteObject, after: number, limit: number): Promise<Count>
  /** As `link`, from the other side: links an object with these categories. */
  linkObject(
    object: SiteObject,
    wanted: ReadonlyMap<CategoryId, boolean | undefined>,
    entry: HistoryEntry,
    remainingTime?: RemainingTime,
  ): Promise<ObjectLinkOutcome>
  /** As `unlink`, from the other side: all of the categories must exist. */
  unlinkObject(
    object: SiteObject,
    categories: readonly CategoryId[],
    entry: HistoryEntry,
    remainingTime?: RemainingTime,
  ): Promise<ObjectLinkOutcome>
  /**
   * Links these objects, by id, each with whether it is displayable; undefined keeps what a link says that exists, and makes a new
   * one displayable. All of them or none; repeating is safe, and completes what a failure has left half done. Of two at once, it is as
   * if one had come after the other. When the request has no time left (unlimited unless told), nothing is linked any more, and
   * nothing later either.
   */
  link(
    list: LinkList,
    wanted: ReadonlyMap<number, boolean | undefined>,
    entry: HistoryEntry,
    remainingTime?: RemainingTime,
  ): Promise<LinkOutcome>
  /**
   * Removes the links with these objects, whether they are there or not. Answers false when there is no such category. Repeating is safe.
   * When the request has no time left (unlimited unless told), nothing is removed any more, and nothing later either.
   */
  unlink(list: LinkList, ids: readonly number[], entry: HistoryEntry, remainingTime?: RemainingTime): Promise<boolean>
}
