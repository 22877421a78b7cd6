import type { SiteId } from '../../lib/core/ids.ts'
import { readJson } from '../../lib/http/json.ts'
import type { ContentStores } from '../stores/admin-stores.ts'
import { visible } from '../terminal/output.ts'
import type { RawRecord } from './read-records.ts'
import { type Collector, type Fault, recordKinds } from './record-kinds.ts'

/** A fault, and the records that have it. */
interface FaultOfMany extends Fault {
  /** How many records have it. */
  readonly count: number
  /** The first of their lines. */
  readonly lines: readonly number[]
}

export interface ImportOutcome {
  readonly imported: number
  readonly skipped: number
  /** What is wrong with the bad records, each fault once, by the first line that has it. */
  readonly errors: readonly FaultOfMany[]
}

export interface ImportOptions {
  /** Whether the first bad record is the end. */
  readonly isStrict?: boolean
  /** Whether members that a record leaves out get sensible values; otherwise they stay as they are stored. */
  readonly replaces?: boolean
  /** Ends the import behind the batch that is being stored. */
  readonly signal?: AbortSignal
}

/** How many different faults are told, and how many lines of each; all are counted. */
const mostErrors = 1_000
const mostLines = 5

const notJson = 'it is not JSON'
const asJson = 'A file holds one record a line, or one array of records'

const parse = ({ text, fault }: RawRecord): { kind: string; members: object } | string => {
  if (fault !== undefined) return fault
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // What is JSON, but is not taken, is said in our own words.
    return error instanceof SyntaxError ? `${notJson}: ${error.message}. ${asJson}` : error.message
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not an object'
  const { kind, ...members } = value as { kind?: unknown }
  if (typeof kind === 'string' && recordKinds.has(kind)) return { kind, members }
  return `kind: must be one of ${[...recordKinds.keys()].join(', ')}`
}

/** Each fault once, with how many records have it. What is no JSON is one fault: where it breaks off differs from one to the next. */
const gatherFaults = () => {
  const errors = new Map<string, { line: number; message: string; count: number; lines: number[] }>()
  let skipped = 0
  return {
    note(faults: readonly Fault[]) {
      for (const { line, message: told } of faults) {
        skipped += 1
        // It may name what stands in the file.
        const message = visible(told)
        const key = message.startsWith(notJson) ? notJson : message
        const known = errors.get(key)
        if (known) {
          known.count += 1
          if (known.lines.length < mostLines) known.lines.push(line)
        } else if (errors.size < mostErrors) errors.set(key, { line, message, count: 1, lines: [line] })
      }
    },
    skipped: () => skipped,
    errors: (): readonly FaultOfMany[] =>
      [...errors.values()]
        .map((fault) => {
          const lines = fault.lines.toSorted((a, b) => a - b)
          return { ...fault, line: lines[0] ?? fault.line, lines }
        })
        .toSorted((a, b) => a.line - b.line),
  }
}

/**
 * Stores records in the order of the file: a batch is stored when it is full, or when a record of another kind follows.
 * A bad record is named by its line and skipped; in strict mode it is the end.
 */
export const importRecords = async (
  records: AsyncIterable<RawRecord>,
  site: SiteId,
  stores: ContentStores,
  { isStrict = false, replaces = false, signal }: ImportOptions = {},
): Promise<ImportOutcome> => {
  const faults = gatherFaults()
  const collectors = new Map<string, Collector>()
  let imported = 0
  let current: { kind: string; collector: Collector } | undefined

  const flush = async () => {
    const outcome = await current?.collector.flush()
    imported += outcome?.stored ?? 0
    faults.note(outcome?.faults ?? [])
  }
  const collectorOf = (kind: string): Collector => {
    const collector = collectors.get(kind) ?? recordKinds.get(kind)?.({ site, stores, replaces })
    if (!collector) throw new Error(`There is no kind of record called ${kind}`)
    collectors.set(kind, collector)
    return collector
  }
  const take = async (record: RawRecord) => {
    const parsed = parse(record)
    if (typeof parsed === 'string') return faults.note([{ line: record.line, message: parsed }])
    if (parsed.kind !== current?.kind) {
      await flush()
      current = { kind: parsed.kind, collector: collectorOf(parsed.kind) }
    }
    const fault = current.collector.add(record.line, parsed.members, record.text.length)
    if (fault) faults.note([fault])
    else if (current.collector.isFull) await flush()
  }

  let isTaking = false
  try {
    for await (const record of records) {
      isTaking = true
      await take(record)
      isTaking = false
      if (signal?.aborted || (isStrict && faults.skipped() > 0)) break
    }
  } catch (error) {
    // Whoever ends the import ends the reading as well: that is no failure.
    if (isTaking || !signal?.aborted) throw error
  }
  if (!signal?.aborted) await flush()
  return { imported, skipped: faults.skipped(), errors: faults.errors() }
}
