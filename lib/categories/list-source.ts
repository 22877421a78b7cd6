import type { Json } from '../answer-size.ts'
import type { Count } from './contents.ts'
import type { Selection } from './query/fields.ts'
import type { Item, MemberReference } from './query/item-shape.ts'

/** What the store keeps of each item of a list, in order of this id. */
export interface Entry {
  readonly id: number
}

/** A list in the store. */
export interface ListSource<E extends Entry> {
  /** The entries behind an id, in order, up to `limit`; fewer only at the end. */
  entries(after: number, limit: number): Promise<readonly E[]>
  /** Counts the entries behind an id, up to `limit`, without reading them. */
  count(after: number, limit: number): Promise<Count>
  /** An item as far as its entry alone tells it. */
  outline(entry: E): Item
  /** Whether the outline tells a member. */
  outlines(member: MemberReference): boolean
  /** The items of these entries, in their order; those that no longer exist are left out. */
  items(entries: readonly E[]): Promise<readonly Item[]>
  /** Writes of each item of a page what is shown, with what is only read for that; fewer of them when an answer does not hold all. */
  write(items: readonly Item[], fields: Selection): Promise<readonly Json<Item>[]>
}
