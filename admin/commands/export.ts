import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { Command } from 'commander'
import type { SiteId } from '../../lib/ids.ts'
import { exampleOf, parsePositiveId } from '../arguments.ts'
import { exportRecords } from '../export-records.ts'
import { Refusal } from '../output.ts'
import { type AdminStores, siteOf, withStores } from '../stores.ts'

interface Options {
  readonly site: SiteId
  readonly out?: string
}

/** How many characters are written at a time. */
const piece = 64 * 1024

/** Writes each record as a line, no faster than they are taken. Answers how many there were. Errors: those of the stream. */
const writeLines = async (records: AsyncIterable<object>, out: Writable): Promise<number> => {
  let failure: unknown
  // Between two writes nobody waits for it.
  out.on('error', (error) => {
    failure = error
  })
  let count = 0
  let text = ''
  const write = async () => {
    if (failure) throw failure
    if (text !== '' && !out.write(text)) await once(out, 'drain')
    text = ''
  }
  for await (const record of records) {
    text += `${JSON.stringify(record)}\n`
    count += 1
    if (text.length >= piece) await write()
  }
  await write()
  return count
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** Writes a file that is there as a whole, or not at all. Throws a Refusal when it cannot be written. */
const writeFile = async (records: AsyncIterable<object>, file: string): Promise<number> => {
  const partial = `${file}.partial`
  const out = createWriteStream(partial, { mode: 0o600 })
  try {
    await once(out, 'open')
    const count = await writeLines(records, out)
    const closed = once(out, 'close')
    out.end()
    await closed
    renameSync(partial, file)
    return count
  } catch (error) {
    out.destroy()
    rmSync(partial, { force: true })
    if (isSystemError(error)) throw new Refusal(`${file} cannot be written: ${reasonOf(error)}`)
    throw error
  }
}

const writeOutput = async (records: AsyncIterable<object>): Promise<void> => {
  try {
    await writeLines(records, process.stdout)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new Refusal(`Standard output cannot be written: ${reasonOf(error)}. The export is not whole.`)
  }
}

const run = async (stores: AdminStores, { site: id, out }: Options): Promise<object | undefined> => {
  const site = await siteOf(stores, id)
  const records = exportRecords(await stores.areas(site), site.id)
  if (out !== undefined) return { exported: await writeFile(records, out), file: out }
  await writeOutput(records)
  return undefined
}

export const exportCommand = (): Command =>
  new Command('export')
    .description('export everything of a site but its files: JSON lines that "import" takes')
    .addHelpText('after', exampleOf('export --site 1001 --out site.jsonl'))
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .option('--out <file>', 'the file (default: standard output)')
    .action((options: Options, self: Command) => withStores(self, (stores) => run(stores, options)))
