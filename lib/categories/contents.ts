import type { ContentKind, ObjectKind } from '../core/content-kinds.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { CategoryId, SiteId } from '../core/ids.ts'
import type { Scalars } from '../core/object-kinds.ts'

export type Content = Scalars & { readonly id: number }

export interface SiteObject {
  readonly site: SiteId
  readonly kind: ObjectKind
  readonly id: number
}

/** Entries after an id, up to a limit. `last` is the last counted one, if more may follow. */
export interface Count {
  readonly count: number
  readonly last: number
  readonly ended: boolean
}

export interface Listed {
  readonly id: number
  readonly content: Content | undefined
}

/**
 * The port to the categories and objects of the sites. Long texts are stored separately, and reads leave them out.
 * Reads do not find content that is being removed; lists return undefined for it. `get`, `existing` and `listWhole`
 * read consistently. Errors of every call: unavailable.
 */
export interface Contents {
  // A unique name for the state of all content and links. Undefined if it would cost as much as reading.
  state(): Promise<string | undefined>
  get(site: SiteId, kind: ContentKind, id: number): Promise<Content | undefined>
  getMany(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlyMap<number, Content>>
  existing(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlySet<number>>
  texts(site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<ReadonlyMap<number, string>>
  // The items after an id, in order of id, up to `limit`; fewer only at the end.
  list(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<readonly Listed[]>
  count(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<Count>
  highestId(site: SiteId, kind: ContentKind): Promise<number>
  /** Stores it with its long text. False when the id is taken; nothing is changed then. */
  create(site: SiteId, kind: ContentKind, content: Content, entry: HistoryEntry): Promise<boolean>
  putMany(site: SiteId, kind: ContentKind, contents: readonly Content[], entry: HistoryEntry): Promise<void>
  /**
   * Stores the result of `apply` for each id, which gets the stored content without its long text. Undefined changes
   * nothing, and a missing long text stays. Returns the number of changes; the entry is written with the first. `apply`
   * may be called again. Safe to repeat.
   */
  changeMany(
    site: SiteId,
    kind: ContentKind,
    ids: readonly number[],
    apply: (stored: Content | undefined, id: number) => Content | undefined,
    entry: HistoryEntry,
  ): Promise<number>
  listWhole(site: SiteId, kind: ContentKind, after: number, limit: number): Promise<readonly Listed[]>
  /** Removes it with its links. No read finds it from the start. Repeat to complete an interrupted removal. */
  removeObject(object: SiteObject, entry: HistoryEntry): Promise<boolean>
  removeCategory(site: SiteId, category: CategoryId, entry: HistoryEntry): Promise<boolean>
  clear(site: SiteId): Promise<void>
}
