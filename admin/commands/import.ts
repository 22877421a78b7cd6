import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { escapeControls } from '../../client/src/command/format-text.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { isPlainObject } from '../../lib/core/names.ts'
import { readJson } from '../../lib/http/read-body.ts'
import { parseText } from '../../local/flags.ts'
import { type RawRecord, readInput, readRecords, statsOf } from '../records/read-records.ts'
import { type Fault, type RecordKind, recordKinds } from '../records/record-kinds.ts'
import type { AdminStores, ContentStores } from '../stores/admin-stores.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import { type OfSite, siteCommandOf } from '../terminal/arguments.ts'
import { interruptibly } from '../terminal/interruption.ts'
import { Refusal } from '../terminal/output.ts'

interface Options {
  readonly strict?: boolean
  // If true, members that a record leaves out get their defaults. If false, they keep their stored values.
  readonly replace?: boolean
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
  if (!isPlainObject(value)) return 'it is not an object'
  const { kind, ...members } = value
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
        const fault = errors.get(key) ?? { line, message, count: 0, lines: [] }
        fault.count += 1
        if (fault.lines.length < mostLines) fault.lines.push(line)
        if (errors.size < mostErrors) errors.set(key, fault)
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
  { strict = false, replace = false, signal }: Options = {},
) => {
  const faults = gatherFaults()
  let imported = 0
  let current: { kind: RecordKind; batch: ReturnType<RecordKind> } | undefined

  const flush = async () => {
    const batch = current?.batch
    current = undefined
    const outcome = await batch?.store()
    imported += outcome?.stored ?? 0
    faults.note(outcome?.faults ?? [])
  }
  const take = async (record: RawRecord) => {
    const parsed = parse(record)
    if (typeof parsed === 'string') return faults.note([{ line: record.line, message: parsed }])
    if (parsed.kind !== current?.kind) {
      await flush()
      current = { kind: parsed.kind, batch: parsed.kind({ site, stores, replaces: replace }) }
    }
    const fault = current.batch.add(record.line, parsed.members, record.text.length)
    if (fault) faults.note([fault])
    else if (current.batch.isFull()) await flush()
  }

  for await (const record of records) {
    await take(record)
    if (signal?.aborted || (strict && faults.skipped() > 0)) break
  }
  if (!signal?.aborted) await flush()
  return { imported, skipped: faults.skipped(), errors: faults.errors() }
}

const width = 30
// In milliseconds: the time between two updates of the progress.
const interval = 100

const wipe = '\r\u001b[K'

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/** Draws a bar if the size is known, or else the bytes read so far. */
export const progressLine = (read: number, size: number | undefined): string => {
  if (!size) return `${mebibytes(read)} read`
  const share = Math.min(1, read / size)
  const done = Math.floor(share * width)
  return `[${'#'.repeat(done)}${'-'.repeat(width - done)}] ${Math.floor(share * 100)} % of ${mebibytes(size)}`
}

/** Passes texts on and draws the progress on a terminal. `size` is in bytes, if it is known. */
export async function* drawProgress(
  chunks: AsyncIterable<string>,
  size: number | undefined,
  terminal: Writable,
): AsyncGenerator<string> {
  let read = 0
  let drawnAt = 0
  try {
    for await (const chunk of chunks) {
      read += Buffer.byteLength(chunk)
      if (performance.now() - drawnAt > interval) {
        terminal.write(`${wipe}${progressLine(read, size)}`)
        drawnAt = performance.now()
      }
      yield chunk
    }
  } finally {
    terminal.write(wipe)
  }
}

const importFile = (stores: AdminStores, file: string, options: OfSite & Options) =>
  interruptibly(async (signal) => {
    const site = await siteOf(stores, options.site)
    const input = readInput(file, signal)
    const { stderr } = process
    const records = readRecords(stderr.isTTY ? drawProgress(input, statsOf(file)?.size, stderr) : input)
    const outcome = await importRecords(records, site.id, await stores.areas(site), { ...options, signal })
    if (signal.aborted) {
      throw new Refusal(
        `Interrupted. Imported records: ${outcome.imported}. Import the same file again to continue: importing again ` +
          'is safe.',
      )
    }
    const [first] = outcome.errors
    if (options.strict && first)
      throw new Refusal(`Line ${first.line}: ${first.message} (Imported records: ${outcome.imported}.)`)
    return outcome
  })

// Returns one row per fault, with the number of records that have this fault, and the first of their lines.
const forPeople = ({ errors, ...sums }: Awaited<ReturnType<typeof importRecords>>) => ({
  ...sums,
  errors: errors.map(({ count, lines, message }) => ({
    records: count,
    lines: lines.length < count ? [...lines, '…'] : lines,
    message,
  })),
})

const description = 'import records: JSON lines, or one JSON array, in UTF-8; importing again is safe'

export const importCommand = (): Command =>
  siteCommandOf('import', description, 'records.jsonl --site 1001')
    .argument('<file>', 'the file to read; - reads standard input', parseText)
    .option('--strict', 'stop at the first bad record', false)
    .option(
      '--replace',
      'reset the members that a record leaves out to their defaults; without this flag, they keep their stored values',
      false,
    )
    .action(onStores(importFile, forPeople, ({ skipped }) => skipped > 0))
