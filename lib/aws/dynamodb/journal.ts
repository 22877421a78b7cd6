import { setRecent } from '../../core/cached-lookup.ts'
import { type HistoryEntry, lostEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { createTurns, inParallel } from '../../core/in-parallel.ts'
import { type Deadline, reserves, systemClock, unlimited } from '../../core/time.ts'
import { expression, isConditionFailure, openTable, type TableOptions, updateCommand } from './dynamodb.ts'
import {
  addition,
  type Block,
  type BlockItem,
  type Blocks,
  blocksFrom,
  createHistory,
  firstOf,
  headBlock,
  type KnownBlock,
  knownFromAddition,
  knownFromQuery,
  markedEntry,
  newBlock,
  toBlock,
} from './journal-blocks.ts'
import { isOwnWrite } from './write-mark.ts'

/**
 * Writes the history entry of a change, after the change and before its answer. Never throws: if the write fails, the
 * change stays, and the entry is passed to `lost` (docs/operating.md).
 */
export type RecordChange = (entry: HistoryEntry, deadline?: Deadline) => Promise<void>

export interface RecordingOptions extends TableOptions {
  readonly record: RecordChange
}

const sitesAtOnce = 16

export const recordIf = async (isMade: unknown, record: RecordChange, ...entries: readonly HistoryEntry[]) => {
  const bySite = isMade ? [...Map.groupBy(entries, ({ site }) => site).values()] : []
  await inParallel(bySite, sitesAtOnce, async (ofSite) => {
    for (const entry of ofSite) await record(entry)
  })
  return Boolean(isMade)
}

export const logLostEntry = (entry: HistoryEntry, error: unknown): void => {
  console.error(`${lostEntry}: ${JSON.stringify(entry)}`, error)
}

interface Options extends TableOptions {
  readonly lost?: (entry: HistoryEntry, error: unknown) => void
  // In milliseconds: an entry may delay its change by this time, because a late answer is better than a lost entry.
  readonly longestDelay?: number
}

const mostAttempts = 30

// In milliseconds. If the head named its block longer ago than this, and the block is missing, the block has expired.
// The positions of an expired block must not be used again.
const longestAbsence = 24 * 3600 * 1000

const mostRemembered = 1_000
const rememberedFor = 3600 * 1000

// The writes of a site run one after another. If they ran in parallel, a nearly full block would refuse most of them.
interface WrittenSite {
  readonly takeTurn: ReturnType<typeof createTurns>
  known?: KnownBlock | undefined
  knownUntil: number
}

const createWriter = (table: Blocks, now: () => number) => {
  // Returns the first block of a site. If several writers start the history, all use the block of the first writer.
  const startHistory = async (site: SiteId, head: Block | undefined, signal: AbortSignal): Promise<number> => {
    if (head && head.next > now() - longestAbsence) return head.next
    const condition = expression`attribute_not_exists(#next) OR #next = ${head?.next ?? 0}`
    const start = { set: { next: now() }, condition, signal }
    const started = await table.update({ site, block: headBlock }, { ...start, returns: 'ALL_NEW' })
    const present = started ?? (await firstOf(table, blocksFrom(site, { to: headBlock }), signal))
    if (!present) throw new Error(`The history of site ${site} has no beginning`)
    return present.next
  }

  const findOpenBlock = async (site: SiteId, signal: AbortSignal): Promise<KnownBlock> => {
    const newest = await firstOf(table, { ...blocksFrom(site), newestFirst: true }, signal)
    if (newest && newest.block !== headBlock) return knownFromQuery(newest, now())
    return newBlock(await startHistory(site, newest, signal))
  }

  const add = async (site: SiteId, known: KnownBlock, marked: ReturnType<typeof markedEntry>, signal: AbortSignal) => {
    const { block } = known
    try {
      const command = updateCommand(table.name, { site, block }, addition(known, marked, now()))
      const { Attributes } = await table.client.send(command, { abortSignal: signal })
      return knownFromAddition(toBlock({ ...Attributes, site, block } as BlockItem), known)
    } catch (error) {
      if (!isConditionFailure(error)) throw error
      if (error.$metadata.attempts === 1) return undefined
      const refusing = await firstOf(table, blocksFrom(site, { from: block, to: block }), signal)
      return isOwnWrite(marked.mark, refusing?.marks) ? known : undefined
    }
  }

  return async (entry: HistoryEntry, remembered: KnownBlock | undefined, signal: AbortSignal): Promise<KnownBlock> => {
    const { site } = entry
    const marked = markedEntry(entry, now())
    for (let count = 0, known = remembered; count < mostAttempts; count++, known = undefined) {
      const after = await add(site, known ?? (await findOpenBlock(site, signal)), marked, signal)
      if (after) return after
    }
    throw new Error(`The history of site ${site} has too many writers at once`)
  }
}

export const createJournal = ({ now = Date.now, lost = logLostEntry, longestDelay = 15_000, ...options }: Options) => {
  const table = openTable<BlockItem>(options)
  const sites = new Map<SiteId, WrittenSite>()
  const write = createWriter(table, now)
  return {
    async record(entry: HistoryEntry, deadline: Deadline = unlimited): Promise<void> {
      using delay = deadline.reserving(reserves.answer).within(longestDelay, systemClock.monotonic)
      const site = sites.get(entry.site) ?? { takeTurn: createTurns({ atOnce: 1 }), knownUntil: 0 }
      setRecent(sites, entry.site, site, mostRemembered)
      try {
        await site.takeTurn(async () => {
          site.known = await write(entry, site.knownUntil > now() ? site.known : undefined, delay.signal)
          site.knownUntil = now() + rememberedFor
        })
      } catch (error) {
        // The remembered block may no longer be the open one.
        site.known = undefined
        lost(entry, error)
      }
    },
    history: createHistory(table, now),
  }
}
