import { clearLine, cursorTo } from 'node:readline'
import type { WriteStream } from 'node:tty'
import type { Command } from 'commander'
import { parseText } from '../../local/flags.ts'
import { type ImportOutcome, importRecords } from '../records/import-records.ts'
import { readInput, readRecords, statsOf } from '../records/read-records.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import { type OfSite, siteCommandOf } from '../terminal/arguments.ts'
import { interruptibly } from '../terminal/interruption.ts'
import { Refusal } from '../terminal/output.ts'

const width = 30
// In milliseconds: the time between two updates of the progress.
const interval = 100

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
  terminal: WriteStream,
): AsyncGenerator<string> {
  let read = 0
  let drawnAt = 0
  const wipe = () => {
    cursorTo(terminal, 0)
    clearLine(terminal, 0)
  }
  try {
    for await (const chunk of chunks) {
      read += Buffer.byteLength(chunk)
      if (performance.now() - drawnAt > interval) {
        wipe()
        terminal.write(progressLine(read, size))
        drawnAt = performance.now()
      }
      yield chunk
    }
  } finally {
    wipe()
  }
}

interface Options extends OfSite {
  readonly strict: boolean
  readonly replace: boolean
}

const importFile = (stores: AdminStores, file: string, { site: id, strict, replace }: Options) =>
  interruptibly(async (signal) => {
    const site = await siteOf(stores, id)
    const input = readInput(file, signal)
    const { stderr } = process
    const records = readRecords(stderr.isTTY ? drawProgress(input, statsOf(file)?.size, stderr) : input)
    const options = { isStrict: strict, replaces: replace, signal }
    const outcome = await importRecords(records, site.id, await stores.areas(site), options)
    if (signal.aborted) {
      throw new Refusal(
        `Interrupted: ${outcome.imported} records are imported. Import the same file again to continue: importing ` +
          'again is safe.',
      )
    }
    const [first] = outcome.errors
    if (strict && first) {
      throw new Refusal(`Line ${first.line}: ${first.message} (${outcome.imported} records are imported.)`)
    }
    return outcome
  })

// Returns one row per fault, with the number of records that have this fault, and the first of their lines.
const forPeople = ({ errors, ...sums }: ImportOutcome) => ({
  ...sums,
  errors: errors.map(({ count, lines, message }) => ({
    records: count,
    lines: lines.length < count ? [...lines, '…'] : lines,
    message,
  })),
})

const description = 'import records: JSON lines, or one JSON array, in UTF-8; importing again is safe'

export const importCommand = (): Command =>
  siteCommandOf('import', description, 'import records.jsonl --site 1001')
    .argument('<file>', 'the file to read; - reads standard input', parseText)
    .option('--strict', 'stop at the first bad record', false)
    .option(
      '--replace',
      'reset the members that a record leaves out to their defaults; without this flag, they keep their ' +
        'stored values',
      false,
    )
    .action(onStores(importFile, forPeople, ({ skipped }) => skipped > 0))
