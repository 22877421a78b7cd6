import { type Change, type HistoryEntry, storedChangeType } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { type History, keptFor } from '../../history/history.ts'
import { expression, type ItemChange, inSeconds, type Query, queryItems, queryPages, type Table } from './dynamodb.ts'
import { createMark } from './write-mark.ts'

/**
 * The table Journal: the history of a site in blocks of a few entries, one item each. One update adds an entry to its
 * block. DynamoDB orders the updates of an item, and this order is the order of the history. A full block stays full
 * and names the next block. No writer uses the next block before the current block is full. So no entry ever appears
 * before an entry that a reader has seen.
 */
export interface Block {
  readonly site: SiteId
  // The positions of the entries begin with this number, which is close to the epoch milliseconds at which the previous
  // block became full. The head has 0.
  readonly block: number
  readonly count: number
  // The sum of the weights of the entries (`weightOf`). It shows whether the block is full.
  readonly bytes: number
  readonly next: number
  // The newest entry comes first, because the pipe of change events reads the first entry.
  readonly entries: readonly EntryItem[]
  readonly marks: ReadonlySet<string>
}

/** The item of a block or of the head. The head has only `site`, `block` and `next`. */
export type BlockItem = Pick<Block, 'site' | 'block' | 'next'> & Partial<Block>

// Every member is present and is a string, so that EventBridge Pipes can read it. Without a value, `requestId` is empty
// and `details` is `{}`.
type EntryItem = Readonly<Record<'at' | 'type' | 'subject' | 'actor' | 'requestId' | 'details', string>>

// A position is the number of the block, followed by three digits for the entry: positions sort as text, too.
const firstNumber = 100
const perBlock = 1_000

// A single writer fills a block up to a little more than these bytes. An entry has about 160 bytes. Five entries, with
// all names, fit into the 1,024 bytes of one write unit.
const mostBytes = 480

// Several writers at once fill larger blocks, up to these bytes, because each full block refuses all writes that are
// under way.
const mostCrowdedBytes = 20_480

const blockOf = (position: number): number => Math.floor(position / perBlock)

const isFull = ({ bytes }: Pick<Block, 'bytes'>): boolean => bytes > mostBytes

export const headBlock = 0

export const markedEntry = ({ type, subject, actor, requestId = '', details = {} }: HistoryEntry, now: number) => ({
  // The names are short, because they count towards the block.
  mark: createMark(4),
  item: { at: new Date(now).toISOString(), type, subject, actor, requestId, details: JSON.stringify(details) },
})

const sizeOf = (item: EntryItem): number =>
  Object.values(item).reduce((sum: number, text: string) => sum + Buffer.byteLength(text), 0)

/** A writer remembers the bytes of the entries of its block. The entry that exceeds `limit` makes the block full. */
export interface KnownBlock {
  readonly block: number
  readonly bytes: number
  readonly limit: number
}

export const newBlock = (block: number, limit = mostBytes): KnownBlock => ({ block, bytes: 0, limit })

const bytesOf = ({ entries }: Pick<Block, 'entries'>): number => entries.reduce((sum, item) => sum + sizeOf(item), 0)

// In milliseconds: after this time without entries of others, a site seems to have no other writers.
const quietTime = 1_000

/** A new writer does not know how many other writers exist. So it uses the large limit, unless the site was quiet. */
export const knownFromQuery = (found: Block, now: number): KnownBlock => {
  const isQuiet = found.next < now - quietTime
  if (isFull(found)) return newBlock(found.next, isQuiet ? mostBytes : mostCrowdedBytes)
  const bytes = bytesOf(found)
  return { block: found.block, bytes, limit: isQuiet && bytes > mostBytes ? 0 : mostCrowdedBytes }
}

/** The number of entries by others since this writer's last entry shows how many writers there are. */
export const knownFromAddition = (filled: Block, before: KnownBlock): KnownBlock => {
  const bytes = bytesOf(filled)
  const added = bytes - before.bytes
  const isAlone = added === bytesOf({ entries: filled.entries.slice(0, 1) })
  const limit = isAlone ? mostBytes : Math.max(mostBytes, 2 * added, before.limit / 2)
  return isFull(filled) ? newBlock(filled.next, limit) : { block: filled.block, bytes, limit }
}

// Scales the bytes of an entry, so that a block is full only at `mostCrowdedBytes`. But an entry that exceeds the limit
// of its writer makes the block full at once.
const weightOf = (item: EntryItem, { bytes, limit }: KnownBlock): number => {
  const size = sizeOf(item)
  return bytes + size > limit ? mostBytes + 1 : Math.ceil((size * mostBytes) / mostCrowdedBytes)
}

export const addition = (
  known: KnownBlock,
  { mark, item }: ReturnType<typeof markedEntry>,
  now: number,
): ItemChange => ({
  set: {
    entries: expression`list_append(${[item]}, if_not_exists(#entries, ${[]}))`,
    count: expression`if_not_exists(#count, ${firstNumber - 1}) + ${1}`,
    next: Math.max(known.block + 1, now),
    expires: inSeconds(now + keptFor),
  },
  add: { bytes: weightOf(item, known), marks: new Set([mark]) },
  condition: expression`attribute_not_exists(#bytes) OR (#bytes <= ${mostBytes} AND NOT contains(#marks, ${mark}))`,
  returns: 'UPDATED_NEW',
})

export const blocksFrom = (
  site: SiteId,
  { from = headBlock, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number; readonly to?: number } = {},
): Query => ({
  where: expression`#site = ${site} AND #block BETWEEN ${from} AND ${to}`,
  columns: ['site', 'block', 'count', 'bytes', 'next', 'entries', 'marks'],
  consistent: true,
})

export const toBlock = (item: BlockItem): Block => ({ count: 0, bytes: 0, entries: [], marks: new Set(), ...item })

const toChange = (site: SiteId, position: number, { at, type, requestId, details, ...item }: EntryItem): Change => {
  const known = JSON.parse(details)
  return {
    site,
    position,
    at: Date.parse(at),
    type: storedChangeType(type),
    ...item,
    ...(requestId !== '' && { requestId }),
    ...(Object.keys(known).length > 0 && { details: known }),
  }
}

const changesIn = ({ site, block, count, entries }: Block, now: number): readonly Change[] =>
  entries
    .map((item, index) => toChange(site, block * perBlock + count - index, item))
    .filter(({ at }) => at >= now - keptFor)
    .toReversed()

export type Blocks = Table<BlockItem>

export const firstOf = async (table: Blocks, query: Query, signal: AbortSignal) => {
  const [item] = await queryItems(table, { ...query, signal }, 1)
  return item && toBlock(item)
}

// Few blocks have fewer than three entries.
const blocksFor = (entries: number): number => (entries <= 0 ? 0 : Math.min(200, Math.ceil(entries / 3) + 1))

// In milliseconds: how often the history of a site is read for all its listeners (V-23).
const pollInterval = 1_000

export const createHistory = (table: Blocks, now: () => number): History => ({
  watch(_site, check) {
    const timer = setInterval(check, pollInterval)
    return () => clearInterval(timer)
  },

  async after(site, position, limit) {
    const changes: Change[] = []
    const query = blocksFrom(site, { from: Math.max(blockOf(position), headBlock + 1) })
    for await (const { items } of queryPages(table, query, () => blocksFor(limit - changes.length))) {
      const blocks = items.map(toBlock)
      // The blocks of a page are read at different moments. After an open block, no further block is read, because
      // entries that the open block has received since then would be missing in the page.
      const open = blocks.findIndex((block) => !isFull(block))
      const whole = open < 0 ? blocks : blocks.slice(0, open + 1)
      const oldestFirst = whole.flatMap((block) => changesIn(block, now()))
      changes.push(...oldestFirst.filter((change) => change.position > position))
      if (open >= 0) break
    }
    return changes.slice(0, limit)
  },

  async before(site, position = Number.MAX_SAFE_INTEGER, limit) {
    const changes: Change[] = []
    const query = { ...blocksFrom(site, { to: Math.max(blockOf(position), headBlock) }), newestFirst: true }
    for await (const { items } of queryPages(table, query, () => blocksFor(limit - changes.length))) {
      const newestFirst = items.flatMap((item) => changesIn(toBlock(item), now()).toReversed())
      changes.push(...newestFirst.filter((change) => change.position < position))
    }
    return changes.slice(0, limit).toReversed()
  },
})
