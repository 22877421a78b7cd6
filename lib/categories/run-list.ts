import { setImmediate as yieldToRequests } from 'node:timers/promises'
import { ServiceError } from '../core/errors.ts'
import { chunksOf, createTurns } from '../core/in-parallel.ts'
import { collectThatFit, type Json, largestPage, toJson } from '../core/pages.ts'
import type { Count, Entry } from './contents.ts'
import type { Item, MemberReference, Position } from './query/item-shape.ts'
import type { ListQuery, Selection } from './query/list-query.ts'

/**
 * C-11: one request may read `longest` entries. `entries` returns up to `limit` entries with ids above `after`, sorted
 * by id, with the members that the stored list has. Only the last page has fewer. `addTexts` adds the long texts that
 * `fields` selects, if the list has long texts.
 */
export interface ListSource {
  readonly longest: number
  entries(after: number, limit: number): Promise<readonly Entry<Item>[]>
  count(after: number, limit: number): Promise<Count>
  listHas(member: MemberReference): boolean
  items(entries: readonly Entry<Item>[]): Promise<readonly Item[]>
  addTexts?(items: readonly Item[], fields: Selection): Promise<readonly Item[]>
}

interface Match {
  readonly entry: Entry<Item>
  readonly position: Position
  readonly item?: Item
}

interface Page {
  readonly matches: readonly Match[]
  readonly total: number | null
  readonly next: { readonly behind: Position | undefined } | null
}

const start = 0
const firstStep = 100
const longestStep = 1_000

// Reads whole items only when `where` or `order` names a member that the entries lack.
const findMatches = async (
  source: ListSource,
  { where, order }: ListQuery,
  entries: readonly Entry<Item>[],
  readsItems?: boolean,
): Promise<Match[]> => {
  // A store in this process never yields to other requests, so this lets them run first.
  await yieldToRequests()
  const members = [...(where?.members ?? []), ...order.members]
  const isWhole = readsItems || !members.every((member) => source.listHas(member))
  const items = isWhole ? await source.items(entries) : entries.map(({ id, content }) => content ?? { id })
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  return items.flatMap((item) => {
    if (where && !where.matches(item)) return []
    const position = order.positionOf(item)
    const entry = byId.get(position.key)
    return entry ? [{ entry, position, ...(isWhole && { item }) }] : []
  })
}

const findAllMatches = async (
  source: ListSource,
  query: ListQuery,
  begun: readonly Entry<Item>[],
): Promise<Match[]> => {
  const { longest } = source
  const left = begun.length < longestStep ? 0 : longest + 1 - begun.length
  const entries = left > 0 ? [...begun, ...(await source.entries(begun.at(-1)?.id ?? start, left))] : begun
  if (entries.length > longest) {
    throw new ServiceError('listTooLong', {
      message:
        `The list has more than ${longest} entries. That is too many to filter, sort or count. Read it page ` +
        'by page with cursor, without order and count.',
    })
  }
  const matches: Match[] = []
  for (const some of chunksOf(entries, longestStep)) matches.push(...(await findMatches(source, query, some)))
  return matches.sort((a, b) => query.order.compare(a.position, b.position))
}

const cutAtLimit = (matches: readonly Match[], limit: number, before: Position | undefined) => {
  const shown = matches.slice(0, limit)
  return { matches: shown, next: matches.length > limit ? { behind: shown.at(-1)?.position ?? before } : null }
}

// A long list is in memory as a whole. A short one does not wait for others.
const longInTurn = createTurns({ atOnce: 2, mostWaiting: 50 })

const choosePageOfAll = async (source: ListSource, query: ListQuery): Promise<Page> => {
  const { paging, order, limit } = query
  const begun = await source.entries(start, longestStep)
  const find = () => findAllMatches(source, query, begun)
  const all = await (begun.length < longestStep ? find() : longInTurn(find))
  if (paging.by === 'skip') {
    return { matches: all.slice(paging.skip, paging.skip + limit), total: all.length, next: null }
  }
  const { after, count } = paging
  const behind = after ? all.filter(({ position }) => order.compare(position, after) > 0) : all
  return { ...cutAtLimit(behind, limit, after), total: count ? all.length : null }
}

const skipTo = async (source: ListSource, query: ListQuery, skip: number): Promise<Page> => {
  const passed = skip > 0 ? await source.count(start, skip) : { count: 0, last: start, ended: false }
  if (passed.ended) return { matches: [], total: passed.count, next: null }
  const entries = query.limit > 0 ? await source.entries(passed.last, query.limit) : []
  const last = entries.at(-1)?.id ?? passed.last
  const isEnd = entries.length < query.limit
  const [matches, behind] = await Promise.all([
    findMatches(source, query, entries, true),
    isEnd ? undefined : source.count(last, Number.POSITIVE_INFINITY),
  ])
  return { matches, total: passed.count + entries.length + (behind?.count ?? 0), next: null }
}

// Reads in order of id until the page is full, or until `source.longest` entries are read. The next page continues there.
const walk = async (source: ListSource, query: ListQuery, after: Position | undefined) => {
  const matches: Match[] = []
  let last = after?.key ?? start
  let left = source.longest
  let step = query.where ? Math.max(firstStep, query.limit + 1) : query.limit + 1
  while (matches.length <= query.limit) {
    const wanted = Math.min(step, left)
    const entries = await source.entries(last, wanted)
    matches.push(...(await findMatches(source, query, entries)))
    left -= entries.length
    last = entries.at(-1)?.id ?? last
    if (entries.length < wanted) return cutAtLimit(matches, query.limit, after)
    if (left === 0) break
    step = Math.min(step * 2, Math.max(longestStep, query.limit + 1))
  }
  const page = cutAtLimit(matches, query.limit, after)
  return { ...page, next: page.next ?? { behind: { key: last, values: [] } } }
}

const choosePage = async (source: ListSource, query: ListQuery): Promise<Page> => {
  const { paging, where, order } = query
  // A count of filtered entries reads all entries, so the page is taken from this read.
  const needsAll = order.members.length > 0 || (where && (paging.by === 'skip' || paging.count))
  if (needsAll) return choosePageOfAll(source, query)
  if (paging.by === 'skip') return skipTo(source, query, paging.skip)
  const [page, all] = await Promise.all([
    walk(source, query, paging.after),
    paging.count ? source.count(start, Number.POSITIVE_INFINITY) : undefined,
  ])
  return { ...page, total: all?.count ?? null }
}

export interface ItemPage {
  readonly items: readonly Item[]
  readonly totalItemsCount: number | null
  readonly limit: number
  readonly skip?: number
  readonly nextCursor?: string | null
}

const textsAtOnce = 50

/** C-10: writes as many items as fit into an answer. */
const writeItems = async (source: ListSource, items: readonly Item[], fields: Selection) => {
  const { taken, add } = collectThatFit<Item>(largestPage)
  for (const some of chunksOf(items, textsAtOnce)) {
    const whole = (await source.addTexts?.(some, fields)) ?? some
    if (!whole.every((item) => add(toJson(fields.select(item))))) break
  }
  return taken
}

const writePage = (items: readonly Json<Item>[], rest: Omit<ItemPage, 'items'>): Json<ItemPage> =>
  `{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}` as Json<ItemPage>

export const runList = async (source: ListSource, query: ListQuery): Promise<Json<ItemPage>> => {
  const { matches, total, next } = await choosePage(source, query)
  const read = matches.flatMap(({ item }) => (item ? [item] : []))
  const items = read.length === matches.length ? read : await source.items(matches.map(({ entry }) => entry))
  const shown = await writeItems(source, items, query.fields)
  const last = items[shown.length - 1]
  const wasCut = last !== undefined && shown.length < items.length
  const limit = wasCut ? shown.length : query.limit
  if (query.paging.by === 'skip') return writePage(shown, { totalItemsCount: total, skip: query.paging.skip, limit })
  const rest = wasCut ? { behind: query.order.positionOf(last) } : next
  return writePage(shown, { totalItemsCount: total, nextCursor: rest && query.cursorAfter(rest.behind), limit })
}
