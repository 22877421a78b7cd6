import { setImmediate as giveWay } from 'node:timers/promises'
import type { Json } from '../core/answer-size.ts'
import { ServiceError } from '../core/errors.ts'
import type { Item, MemberReference } from '../core/item-shape.ts'
import type { Count } from './contents.ts'
import type { Selection } from './query/fields.ts'
import type { ListQuery, Paging } from './query/list-query.ts'
import type { Position } from './query/order.ts'

/** An entry that matches, its place in the order, and its item as far as that had to be read. */
interface Place<E extends Entry> {
  readonly entry: E
  readonly position: Position
  readonly item?: Item
}

/** How many entries are looked at together. */
const step = 1_000

/** Those of the entries that `where` lets pass. Reads their items only when `where` or `order` names a member that the entries do not tell. */
const matching = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  entries: readonly E[],
): Promise<Place<E>[]> => {
  const { where, order } = query
  const members = [...(where?.members ?? []), ...order.members]
  if (members.every((member) => source.outlines(member))) {
    return entries.flatMap((entry) => {
      const outline = source.outline(entry)
      return !where || where.matches(outline) ? [{ entry, position: order.positionOf(outline) }] : []
    })
  }
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  return (await source.items(entries)).flatMap((item) => {
    const position = order.positionOf(item)
    const entry = byId.get(position.key)
    return entry && (!where || where.matches(item)) ? [{ entry, position, item }] : []
  })
}

/** The same for the next ones of many. A store in this process answers at once: other requests get their turn before they are read. */
const matchingNext = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  entries: readonly E[],
): Promise<Place<E>[]> => {
  await giveWay()
  return matching(source, query, entries)
}

/** All of a list that matches, in its order. Errors: listTooLong, before any object is read. */
const allMatching = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  longest: number,
): Promise<Place<E>[]> => {
  const entries = await source.entries(0, longest + 1)
  if (entries.length > longest) {
    throw new ServiceError('listTooLong', {
      message: `The list has more than ${longest} entries, too many to be filtered, sorted or counted as a whole. Page through it with cursor, without order and count.`,
    })
  }
  const places: Place<E>[] = []
  for (let from = 0; from < entries.length; from += step) {
    places.push(...(await matchingNext(source, query, entries.slice(from, from + step))))
  }
  return query.order.members.length > 0 ? places.sort((a, b) => query.order.compare(a.position, b.position)) : places
}

/** Where a list goes on: behind a position, or from its start. Null at its end. */
type Next = { readonly behind: Position | undefined } | null

/** What of a list a page shows. */
interface Excerpt<E extends Entry> {
  readonly places: readonly Place<E>[]
  readonly total: number | null
  readonly next: Next
}

type CursorPaging = Extract<Paging, { by: 'cursor' }>

/** Ids begin at 1. */
const start = 0

/** How many entries a filtered walk looks at in its first and in its longest step. */
const firstStep = 100
const longestStep = 1_000

/** Without `where` and `order`: passes over keys, reads those of the page, and counts the ones behind it. */
const skipTo = async <E extends Entry>(source: ListSource<E>, query: ListQuery, skip: number): Promise<Excerpt<E>> => {
  const passed = skip > 0 ? await source.count(start, skip) : { count: 0, last: start, ended: false }
  if (passed.ended) return { places: [], total: passed.count, next: null }
  const entries = query.limit > 0 ? await source.entries(passed.last, query.limit) : []
  const last = entries.at(-1)?.id ?? passed.last
  const isEnd = entries.length < query.limit
  const behind = isEnd ? 0 : (await source.count(last, Number.POSITIVE_INFINITY)).count
  const places = await matching(source, query, entries)
  return { places, total: passed.count + entries.length + behind, next: null }
}

/** With `where` or `order`, by `skip`. */
const skipInWhole = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  skip: number,
  longest: number,
): Promise<Excerpt<E>> => {
  const places = await allMatching(source, query, longest)
  return { places: places.slice(skip, skip + query.limit), total: places.length, next: null }
}

/** The first places up to the limit: the list goes on behind them when there are more. */
const cutAtLimit = <E extends Entry>(
  places: readonly Place<E>[],
  { limit }: ListQuery,
  before: Position | undefined,
  otherwise: Next,
) => {
  const shown = places.slice(0, limit)
  return { places: shown, next: places.length > limit ? { behind: shown.at(-1)?.position ?? before } : otherwise }
}

/**
 * By `cursor`, in order of ids: walks on from the position until the page is full. A walk that finds little ends after
 * `longest` entries with the page that it has, and the next one goes on from there.
 */
const walk = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  { after }: CursorPaging,
  longest: number,
) => {
  const places: Place<E>[] = []
  let last = after?.key ?? start
  let left = longest
  let step = query.where ? Math.max(firstStep, query.limit + 1) : query.limit + 1
  while (places.length <= query.limit) {
    const wanted = Math.min(step, left)
    const entries = await source.entries(last, wanted)
    places.push(...(await matchingNext(source, query, entries)))
    left -= entries.length
    last = entries.at(-1)?.id ?? last
    if (entries.length < wanted) return cutAtLimit(places, query, after, null)
    if (left === 0) break
    step = Math.min(step * 2, Math.max(longestStep, query.limit + 1))
  }
  return cutAtLimit(places, query, after, { behind: { key: last, values: [] } })
}

/** By `cursor`, over all that matches: the list is put in order anew, and goes on behind the position, whatever became of the item there. */
const goOnInWhole = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  { after }: CursorPaging,
  longest: number,
) => {
  const places = await allMatching(source, query, longest)
  const behind = after ? places.filter(({ position }) => query.order.compare(position, after) > 0) : places
  return { ...cutAtLimit(behind, query, after, null), total: places.length }
}

const byCursor = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  paging: CursorPaging,
  longest: number,
): Promise<Excerpt<E>> => {
  // Whoever wants to know how many match has all of them looked at: the page may as well be taken from those.
  if (query.order.members.length > 0 || (query.where && paging.count)) {
    const excerpt = await goOnInWhole(source, query, paging, longest)
    return { ...excerpt, total: paging.count ? excerpt.total : null }
  }
  const total = paging.count ? (await source.count(start, Number.POSITIVE_INFINITY)).count : null
  return { ...(await walk(source, query, paging, longest)), total }
}

/**
 * What of a list a page shows: chosen among the entries alone, where they tell what `where` and `order` name. `total` is how many
 * match, where that was asked for. Errors: listTooLong.
 */
export const excerptOf = <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  longest: number,
): Promise<Excerpt<E>> => {
  const { paging, where, order } = query
  if (paging.by === 'cursor') return byCursor(source, query, paging, longest)
  return where || order.members.length > 0
    ? skipInWhole(source, query, paging.skip, longest)
    : skipTo(source, query, paging.skip)
}

/** The items of places, read as far as they have not been yet; those that no longer exist are left out. */
export const itemsOf = async <E extends Entry>(
  source: ListSource<E>,
  places: readonly Place<E>[],
): Promise<readonly Item[]> => {
  const read = places.flatMap(({ item }) => (item ? [item] : []))
  return read.length === places.length ? read : source.items(places.map(({ entry }) => entry))
}

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
