import { QueryCommand, type QueryCommandInput, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { type HistoryEntry, lostEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { type RemainingTime, unlimited } from '../../core/remaining-time.ts'
import type { Change, History } from '../../history/history.ts'
import { timeToAnswer } from '../calls/in-time.ts'
import { createTimeLimit } from '../calls/time-limit.ts'
import { isConditionFailure, type TableOptions } from './dynamodb.ts'
import {
  addition,
  type Block,
  blockOf,
  blocksFrom,
  changesIn,
  entryItem,
  headBlock,
  isFull,
  toBlock,
} from './journal-blocks.ts'

/**
 * Writes the entry of a change down, right behind the change and before its answer. It never throws: a change that is made stays made, and an
 * entry that could not be written is told to `lost` (docs/operating.md).
 */
export type RecordChange = (entry: HistoryEntry, remainingTime?: RemainingTime) => Promise<void>

/** For the log of a function, and for whoever has given a command. */
export const tellLost = (entry: HistoryEntry, error: unknown): void => {
  console.error(`${lostEntry}: ${JSON.stringify(entry)}`, error)
}

interface Options extends TableOptions {
  /** The wall clock. */
  readonly now?: () => number
  readonly lost?: (entry: HistoryEntry, error: unknown) => void
  /** How long a change is held up at the most, in milliseconds: an entry that is late is better than one that is lost. */
  readonly patience?: number
}

/** How many blocks one attempt to write an entry looks at before it gives up. */
const mostAttempts = 30

/** A first block that was named so long ago, in milliseconds, and is not there, has been there and is gone: it must not come again. */
const longestAbsence = 24 * 3600 * 1000

/** Of so many sites a process remembers the block that it wrote to last, and for so long, in milliseconds. */
const mostRemembered = 1_000
const remembered = 3600 * 1000

/** How many blocks are read for so many entries: few have less than three. */
const blocksFor = (entries: number): number => Math.min(200, Math.ceil(entries / 3) + 1)

/** The history of the sites of a data centre in the table Journal, and what writes it. */
export const createJournal = ({
  dynamodb: client,
  table,
  now = Date.now,
  lost = tellLost,
  patience = 15_000,
}: Options): { readonly record: RecordChange; readonly history: History } => {
  /** Where the next entry of a site goes, as far as this process knows. */
  const places = new Map<SiteId, { readonly block: number; readonly until: number }>()

  const remember = (site: SiteId, block: number) => {
    places.delete(site)
    places.set(site, { block, until: now() + remembered })
    const [oldest] = places.keys()
    if (places.size > mostRemembered && oldest !== undefined) places.delete(oldest)
  }

  /** The write of each site that ends last. */
  const turns = new Map<SiteId, Promise<void>>()

  /** Writes to a site one after the other: of those at once, all but the first few would be refused by a block that is full by then. */
  const inTurn = (site: SiteId, write: () => Promise<void>): Promise<void> => {
    const written = (turns.get(site) ?? Promise.resolve()).then(write)
    const ended = written
      .catch(() => undefined)
      .then(() => {
        if (turns.get(site) === ended) turns.delete(site)
      })
    turns.set(site, ended)
    return written
  }

  const query = async (
    input: QueryCommandInput,
    abortSignal?: AbortSignal,
  ): Promise<{ readonly blocks: readonly Block[]; readonly isLast: boolean }> => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand(input),
      abortSignal ? { abortSignal } : {},
    )
    return { blocks: Items.map(toBlock), isLast: LastEvaluatedKey === undefined }
  }

  const firstOf = async (input: QueryCommandInput, abortSignal: AbortSignal): Promise<Block | undefined> =>
    (await query(input, abortSignal)).blocks[0]

  /** Has the history of a site begin at a block, and answers which one it is: of several who do so, the first one says. */
  const begin = async (site: SiteId, head: Block | undefined, abortSignal: AbortSignal): Promise<number> => {
    if (head && head.next > now() - longestAbsence) return head.next
    try {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: { site, block: headBlock },
          UpdateExpression: 'SET #next = :next',
          ConditionExpression: head ? '#next = :seen' : 'attribute_not_exists(#next)',
          ExpressionAttributeNames: { '#next': 'next' },
          ExpressionAttributeValues: { ':next': now(), ...(head && { ':seen': head.next }) },
        }),
        { abortSignal },
      )
    } catch (error) {
      if (!isConditionFailure(error)) throw error
    }
    const present = await firstOf(blocksFrom(table, site, { to: headBlock }, { limit: 1 }), abortSignal)
    if (!present) throw new Error(`The history of site ${site} has no beginning`)
    return present.next
  }

  /** The block that takes entries at present. */
  const openBlock = async (site: SiteId, abortSignal: AbortSignal): Promise<number> => {
    const newest = await firstOf(blocksFrom(table, site, {}, { newestFirst: true, limit: 1 }), abortSignal)
    if (!newest || newest.block === headBlock) return begin(site, newest, abortSignal)
    return isFull(newest) ? newest.next : newest.block
  }

  const placeOf = (site: SiteId): number | undefined => {
    const place = places.get(site)
    return place && place.until > now() ? place.block : undefined
  }

  /** Answers false when the block takes no more. */
  const add = async (
    { site, block }: { readonly site: SiteId; readonly block: number },
    item: ReturnType<typeof entryItem>,
    abortSignal: AbortSignal,
  ): Promise<boolean> => {
    try {
      const { Attributes } = await client.send(addition(table, { site, block }, item, now()), { abortSignal })
      const filled = toBlock({ ...Attributes, site, block })
      remember(site, isFull(filled) ? filled.next : block)
      return true
    } catch (error) {
      if (!isConditionFailure(error)) throw error
      if (error.$metadata.attempts === 1) return false
      // The client has repeated a call whose answer was lost: that one may have added it.
      const refusing = await firstOf(blocksFrom(table, site, { from: block, to: block }, { limit: 1 }), abortSignal)
      return refusing?.marks.has(item.mark) ?? false
    }
  }

  const write = async (entry: HistoryEntry, abortSignal: AbortSignal): Promise<void> => {
    const { site } = entry
    const item = entryItem(entry, now())
    let block = placeOf(site) ?? (await openBlock(site, abortSignal))
    for (let count = 0; count < mostAttempts; count++) {
      if (await add({ site, block }, item, abortSignal)) return
      block = await openBlock(site, abortSignal)
    }
    throw new Error(`So many others write to the history of site ${site} that there was no room`)
  }

  return {
    async record(entry, remainingTime = unlimited) {
      const limit = createTimeLimit(() => Math.min(remainingTime() - timeToAnswer, patience), 0)
      try {
        await inTurn(entry.site, () => write(entry, limit.signal))
      } catch (error) {
        // What it has remembered may be what is wrong.
        places.delete(entry.site)
        lost(entry, error)
      } finally {
        limit.end()
      }
    },

    history: {
      async after(site, position, limit) {
        const changes: Change[] = []
        for (let from = Math.max(blockOf(position), headBlock + 1); changes.length < limit; ) {
          const limits = { limit: blocksFor(limit - changes.length) }
          const { blocks, isLast } = await query(blocksFrom(table, site, { from }, limits))
          // Blocks are not read at one moment: what stands behind one that was not full has come after what that one has got meanwhile.
          const open = blocks.findIndex((block) => !isFull(block))
          const whole = open < 0 ? blocks : blocks.slice(0, open + 1)
          changes.push(...whole.flatMap(changesIn).filter((change) => change.position > position))
          const last = blocks.at(-1)
          if (!last || isLast || open >= 0) break
          from = last.block + 1
        }
        return changes.slice(0, limit)
      },

      async before(site, position = Number.MAX_SAFE_INTEGER, limit) {
        const changes: Change[] = []
        for (let to = blockOf(position); changes.length < limit; ) {
          const range = { from: headBlock + 1, to }
          const limits = { newestFirst: true, limit: blocksFor(limit - changes.length) }
          const { blocks, isLast } = await query(blocksFrom(table, site, range, limits))
          const newestFirst = blocks.flatMap((block) => changesIn(block).toReversed())
          changes.push(...newestFirst.filter((change) => change.position < position))
          const last = blocks.at(-1)
          if (!last || isLast) break
          to = last.block - 1
        }
        return changes.slice(0, limit).toReversed()
      },
    },
  }
}
