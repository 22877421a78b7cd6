import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { type HistoryEntry, readChangeType } from '../../core/history-entry.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import { type Change, keptFor } from '../../history/history.ts'
import { inSeconds, type Query } from './dynamodb.ts'
import { createMark } from './write-mark.ts'

/**
 * The table Journal: the history of a site in blocks of a few entries, one item each. An entry is added to its block by
 * one update, and DynamoDB orders the updates of an item: that order is the order of the history. A full block stays
 * full and names the next one, which nobody writes to before. So no entry ever appears before one that a reader has
 * seen.
 */
export interface Block {
  readonly site: SiteId
  // The start of the positions of its entries, close to the epoch milliseconds when the previous block became full. 0
  // is the head.
  readonly block: number
  readonly count: number
  readonly bytes: number
  readonly next: number
  // The newest first: the pipe of change events reads the first one.
  readonly entries: readonly EntryItem[]
  readonly marks: ReadonlySet<string>
}

/** The head has none of the members that may be missing. */
export type BlockItem = Pick<Block, 'site' | 'block' | 'next'> & Partial<Block>

/** Every member is present and a text, so that a pipe can read it. `requestId` is empty and `details` `{}` for none. */
interface EntryItem {
  readonly at: string
  readonly type: string
  readonly subject: string
  readonly actor: string
  readonly requestId: string
  readonly details: string
}

// A position is the number of the block, followed by three digits for the entry: positions sort as text, too.
const firstNumber = 100
const perBlock = 1_000

// A block with more bytes is full. An entry has about 160 bytes, and five fit into the 1,024 bytes of one write unit
// with all names.
const mostBytes = 480

export const blockOf = (position: number): number => Math.floor(position / perBlock)

export const isFull = ({ bytes }: Pick<Block, 'bytes'>): boolean => bytes > mostBytes

export const headBlock = 0

export const entryItem = ({ type, subject, actor, requestId = '', details = {} }: HistoryEntry, now: number) => ({
  // Short, because it counts towards the block.
  mark: createMark(4),
  item: {
    at: new Date(now).toISOString(),
    type,
    subject,
    actor,
    requestId,
    details: JSON.stringify(details),
  } satisfies EntryItem,
})

const sizeOf = (item: EntryItem): number =>
  Object.values(item).reduce((sum: number, text: string) => sum + Buffer.byteLength(text), 0)

export const addition = (
  table: string,
  { site, block }: { readonly site: SiteId; readonly block: number },
  { mark, item }: ReturnType<typeof entryItem>,
  now: number,
) =>
  new UpdateCommand({
    TableName: table,
    Key: { site, block },
    UpdateExpression:
      'SET #entries = list_append(:entry, if_not_exists(#entries, :none)), #count = if_not_exists(#count, :before) + ' +
      ':one, #next = :next, #expires = :expires ADD #bytes :size, #marks :mark',
    ConditionExpression: 'attribute_not_exists(#bytes) OR (#bytes <= :most AND NOT contains(#marks, :own))',
    ExpressionAttributeNames: Object.fromEntries(
      ['entries', 'count', 'next', 'expires', 'bytes', 'marks'].map((name) => [`#${name}`, name]),
    ),
    ExpressionAttributeValues: {
      ':entry': [item],
      ':none': [],
      ':before': firstNumber - 1,
      ':one': 1,
      ':next': Math.max(block + 1, now),
      ':expires': inSeconds(now + keptFor),
      ':size': sizeOf(item),
      ':most': mostBytes,
      ':mark': new Set([mark]),
      ':own': mark,
    },
    ReturnValues: 'UPDATED_NEW',
  })

export const blocksFrom = (
  site: SiteId,
  { from = headBlock, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number; readonly to?: number } = {},
): Query => ({
  where: '#site = :site AND #block BETWEEN :from AND :to',
  values: { ':site': site, ':from': from, ':to': to },
  columns: ['site', 'block', 'count', 'bytes', 'next', 'entries', 'marks'],
  consistent: true,
})

export const toBlock = (item: BlockItem): Block => ({ count: 0, bytes: 0, entries: [], marks: new Set(), ...item })

const toChange = (site: SiteId, position: number, item: EntryItem): Change => {
  const { at, subject, actor, requestId, details } = item
  const type = readChangeType(item.type)
  if (!type) throw new Error(`The history has an unknown type of change: ${item.type}`)
  const known = JSON.parse(details)
  return {
    site,
    position,
    at: Date.parse(at),
    type,
    subject,
    actor,
    ...(requestId !== '' && { requestId }),
    ...(Object.keys(known).length > 0 && { details: known }),
  }
}

export const changesIn = ({ site, block, count, entries }: Block): readonly Change[] =>
  entries.map((item, index) => toChange(storedId(site), block * perBlock + count - index, item)).toReversed()
