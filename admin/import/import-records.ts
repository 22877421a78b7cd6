import { readJson } from '../../lib/http/json.ts'
import type { SiteId } from '../../lib/ids.ts'
import type { ContentStores } from '../stores.ts'
import type { RawRecord } from './read-records.ts'
import { type Collector, type Fault, recordKinds } from './record-kinds.ts'

export interface ImportOutcome {
  readonly imported: number
  readonly skipped: number
  /** The first of the bad records, by line. */
  readonly errors: readonly Fault[]
}

/** How many bad records are named; the rest is only counted. */
const mostErrors = 1_000

const parse = ({ text, fault }: RawRecord): { kind: string; members: object } | string => {
  if (fault !== undefined) return fault
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not an object'
  const { kind, ...members } = value as { kind?: unknown }
  if (typeof kind === 'string' && recordKinds.has(kind)) return { kind, members }
  return `kind: must be one of ${[...recordKinds.keys()].join(', ')}`
}

/**
 * Stores records in the order of the file: a batch is stored when it is full, or when a record of another kind follows.
 * A bad record is named by its line and skipped; in strict mode it is the end.
 */
export const importRecords = async (
  records: AsyncIterable<RawRecord>,
  site: SiteId,
  stores: ContentStores,
  strict: boolean,
): Promise<ImportOutcome> => {
  const errors: Fault[] = []
  const collectors = new Map<string, Collector>()
  let imported = 0
  let skipped = 0
  let current: { kind: string; collector: Collector } | undefined

  const note = (faults: readonly Fault[]) => {
    skipped += faults.length
    errors.push(...faults.slice(0, mostErrors - errors.length))
  }
  const flush = async () => {
    const outcome = await current?.collector.flush()
    imported += outcome?.stored ?? 0
    note(outcome?.faults ?? [])
  }
  const collectorOf = (kind: string): Collector => {
    const collector = collectors.get(kind) ?? recordKinds.get(kind)?.(site, stores)
    if (!collector) throw new Error(`There is no kind of record called ${kind}`)
    collectors.set(kind, collector)
    return collector
  }

  for await (const record of records) {
    const parsed = parse(record)
    if (typeof parsed === 'string') note([{ line: record.line, message: parsed }])
    else {
      if (parsed.kind !== current?.kind) {
        await flush()
        current = { kind: parsed.kind, collector: collectorOf(parsed.kind) }
      }
      const fault = current.collector.add(record.line, parsed.members)
      if (fault) note([fault])
      else if (current.collector.isFull) await flush()
    }
    if (strict && skipped > 0) break
  }
  await flush()
  return { imported, skipped, errors: errors.toSorted((a, b) => a.line - b.line) }
}
