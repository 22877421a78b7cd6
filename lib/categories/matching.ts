import { setImmediate as giveWay } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import type { Entry, ListSource } from './list-source.ts'
import type { Item } from './query/item-shape.ts'
import type { ListQuery } from './query/list-query.ts'
import type { Position } from './query/order.ts'

/** An entry that matches, its place in the order, and its item as far as that had to be read. */
export interface Place<E extends Entry> {
  readonly entry: E
  readonly position: Position
  readonly item?: Item
}

/** How many entries are looked at together. */
const step = 1_000

/** Those of the entries that `where` lets pass. Reads their items only when `where` or `order` names a member that the entries do not tell. */
export const matching = async <E extends Entry>(
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
export const matchingNext = async <E extends Entry>(
  source: ListSource<E>,
  query: ListQuery,
  entries: readonly E[],
): Promise<Place<E>[]> => {
  await giveWay()
  return matching(source, query, entries)
}

/** All of a list that matches, in its order. Errors: listTooLong, before any object is read. */
export const allMatching = async <E extends Entry>(
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
