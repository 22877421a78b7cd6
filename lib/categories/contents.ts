import type { ContentKind, ObjectKind } from '../core/content-kinds.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId, SiteId } from '../core/ids.ts'
import type { Scalars } from '../core/item-shape.ts'

/** A category, news item or blog: its members by name. */
export type Content = Scalars & { readonly id: number }

/** A news item or a blog of a site. */
export interface SiteObject {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly id: number
}

/** How many there are behind an id, up to a limit, and the id of the last one counted when there may be more. */
export interface Count {
  readonly count: number
  readonly last: number
  readonly ended: boolean
}

/** What a list finds at an id: undefined stands for content that is being removed. */
export interface Listed {
  readonly id: number
  readonly content: Content | undefined
}

/**
 * The port to the categories, news items and blogs of the sites of a data centre. Long texts are kept apart and read only when
 * they are asked for: content comes without them. What is being removed no longer exists for whoever reads it here.
 * Errors of every call: unavailable.
 */
export interface Contents {
  /**
   * Names the present state of all content and of all links: as long as the name is the same, whoever reads finds what was there before,
   * and a name never comes again. Undefined where that costs as much as reading.
   */
  state(): Promise<string | undefined>
  /** What was stored a moment ago is there. */
  get(site: SiteId, kind: ContentKind, id: number): Promise<Content | undefined>
  /** By id, each id once; those that do not exist are left out. */
  getMany(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlyMap<number, Content>>
  /** Which of these exist. What was stored a moment ago does. */
  existing(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlySet<number>>
  /** The long texts of these, by id. */
  texts(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** Those behind an id, in order of id, up to `limit`; fewer only at the end. */
  list(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<readonly Listed[]>
  count(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<Count>
  /** The highest id of a kind on the site; 0 when there is none. */
  highestId(site: SiteId, kind: ContentKind): Promise<number>
  /** Stores it, its long text included. Answers false when there is one of that id already; nothing is changed then. */
  create(site: SiteId, kind: ContentKind, content: Content, entry: HistoryEntry): Promise<boolean>
  /** Stores these, each id once, in place of what has the same id. Repeating is safe. */
  putMany(site: SiteId, kind: ContentKind, contents: readonly Content[], entry: HistoryEntry): Promise<void>
  /**
   * Stores what `apply` makes of each of these, which is given as it is, without its long text: undefined where there is none. Undefined leaves it as it is, and
   * so does a long text that is left out. What comes out as it is stored is not written. Answers how many have changed; only with the first of
   * them the entry goes into the history. `apply` may be called again. Repeating is safe.
   */
  changeMany(
    site: SiteId,
    kind: ContentKind,
    ids: readonly number[],
    apply: (stored: Content | undefined, id: number) => Content | undefined,
    entry: HistoryEntry,
  ): Promise<number>
  /** As `list`, with the long texts, and with everything that was stored before. */
  listWhole(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<readonly Listed[]>
  /**
   * Removes a news item or a blog with its links. From the first moment on nobody sees or links it any more; repeating a removal
   * that broke off completes it. Answers whether there was anything to remove.
   */
  removeObject(object: SiteObject, entry: HistoryEntry): Promise<boolean>
  /** Removes a category with its links, in the same way; the objects stay. */
  removeCategory(site: SiteId, category: CategoryId, entry: HistoryEntry): Promise<boolean>
  /**
   * Removes everything of a site, with its links: a step of the removal of the site, which nobody uses any more. What breaks off half-way leaves
   * nothing that repeating it does not find.
   */
  clear(site: SiteId): Promise<void>
}
