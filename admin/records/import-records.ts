import { escapeControls } from '../../client/src/command/format-text.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { readJson } from '../../lib/http/read-body.ts'
import type { ContentStores } from '../stores/admin-stores.ts'
import type { RawRecord } from './read-records.ts'
import { type Fault, type RecordKind, recordKinds } from './record-kinds.ts'

interface ImportOptions {
  readonly isStrict?: boolean
  // If true, members that a record leaves out get their defaults. If false, they keep their stored values.
  readonly replaces?: boolean
  // Ends the import after the current batch.
  readonly signal?: AbortSignal
}

// The largest numbers of faults and of lines that are listed. All faults are counted.
const mostErrors = 1_000
const mostLines = 5

const notJson = 'it is not JSON'
const asJson = 'A file must have one record per line, or one array of records'

const parse = ({ text, fault }: RawRecord): { kind: RecordKind; members: object } | string => {
  if (fault !== undefined) return fault
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // Other errors of `readJson` already have a clear message.
    return error instanceof SyntaxError ? `${notJson}: ${error.message}. ${asJson}` : error.message
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not an object'
  const { kind, ...members } = value as { kind?: unknown }
  const known = typeof kind === 'string' ? recordKinds.get(kind) : undefined
  if (known) return { kind: known, members }
  return `kind: must be one of ${[...recordKinds.keys()].join(', ')}`
}

// All JSON syntax errors count as one fault, because their texts differ by position.
const gatherFaults = () => {
  const errors = new Map<string, { line: number; message: string; count: number; lines: number[] }>()
  let skipped = 0
  return {
    note(faults: readonly Fault[]) {
      for (const { line, message: text } of faults) {
        skipped += 1
        // The message may quote the file, so control characters are escaped.
        const message = escapeControls(text)
        const key = message.startsWith(notJson) ? notJson : message
        const known = errors.get(key)
        if (known) {
          known.count += 1
          if (known.lines.length < mostLines) known.lines.push(line)
        } else if (errors.size < mostErrors) errors.set(key, { line, message, count: 1, lines: [line] })
      }
    },
    skipped: () => skipped,
    // Lists each fault once, ordered by its first line.
    errors: () =>
      [...errors.values()]
        .map((fault) => ({ ...fault, line: Math.min(...fault.lines), lines: fault.lines.toSorted((a, b) => a - b) }))
        .toSorted((a, b) => a.line - b.line),
  }
}

/**
 * Stores the records in the order of the file, in batches of one kind. A bad record is skipped and reported with its
 * line. In strict mode, the first bad record ends the import.
 */
export const importRecords = async (
  records: AsyncIterable<RawRecord>,
  site: SiteId,
  stores: ContentStores,
  { isStrict = false, replaces = false, signal }: ImportOptions = {},
) => {
  const faults = gatherFaults()
  let imported = 0
  let current: { kind: RecordKind; collector: ReturnType<RecordKind> } | undefined

  const flush = async () => {
    const outcome = await current?.collector.flush()
    imported += outcome?.stored ?? 0
    faults.note(outcome?.faults ?? [])
  }
  const take = async (record: RawRecord) => {
    const parsed = parse(record)
    if (typeof parsed === 'string') return faults.note([{ line: record.line, message: parsed }])
    if (parsed.kind !== current?.kind) {
      await flush()
      current = { kind: parsed.kind, collector: parsed.kind({ site, stores, replaces }) }
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
    // The signal ends the import, and also ends the reading of the file with an error. This error is not a failure.
    if (isTaking || !signal?.aborted) throw error
  }
  if (!signal?.aborted) await flush()
  return { imported, skipped: faults.skipped(), errors: faults.errors() }
}

export type ImportOutcome = Awaited<ReturnType<typeof importRecords>>
