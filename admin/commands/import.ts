import { statSync } from 'node:fs'
import { clearLine, cursorTo } from 'node:readline'
import type { WriteStream } from 'node:tty'
import { Command } from 'commander'
import type { SiteId } from '../../lib/ids.ts'
import { parsePositiveId } from '../arguments.ts'
import { importRecords } from '../import/import-records.ts'
import { readInput, readRecords } from '../import/read-records.ts'
import { Refusal } from '../output.ts'
import { siteOf, withStores } from '../stores.ts'

const width = 30
/** Often enough to be seen moving, in milliseconds. */
const interval = 100

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/** A bar for a share of a known size, else what has been read. */
export const progressLine = (read: number, size: number | undefined): string => {
  if (!size) return `${mebibytes(read)} read`
  const share = Math.min(1, read / size)
  const done = Math.floor(share * width)
  return `[${'#'.repeat(done)}${'-'.repeat(width - done)}] ${Math.floor(share * 100)} % of ${mebibytes(size)}`
}

/** Passes texts on, and draws on a terminal how far that has got. `size` is that of the whole in bytes, when it is known. */
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

interface Options {
  readonly site: SiteId
  readonly strict: boolean
}

/** In bytes; unknown for standard input, and for what reading will complain about. */
const sizeOf = (file: string): number | undefined =>
  file === '-' ? undefined : statSync(file, { throwIfNoEntry: false })?.size

export const importCommand = (): Command =>
  new Command('import')
    .description('import records: JSON lines, or one JSON array, in UTF-8; importing again is safe')
    .argument('<file>', 'the file; - for standard input')
    .requiredOption('--site <id>', 'the site that the records belong to', parsePositiveId<SiteId>)
    .option('--strict', 'stop at the first bad record', false)
    .action((file: string, { site: id, strict }: Options, self: Command) =>
      withStores(self, async (stores) => {
        const site = await siteOf(stores, id)
        const input = readInput(file)
        const { stderr } = process
        const records = readRecords(stderr.isTTY ? drawProgress(input, sizeOf(file), stderr) : input)
        const outcome = await importRecords(records, site.id, await stores.areas(site), strict)
        const [first] = outcome.errors
        if (strict && first) {
          throw new Refusal(`Line ${first.line}: ${first.message} (${outcome.imported} records are imported.)`)
        }
        return outcome
      }),
    )
