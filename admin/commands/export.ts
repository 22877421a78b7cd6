import { randomBytes } from 'node:crypto'
import { createWriteStream, lstatSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { failureOf, reasonOf, type SystemFailure } from '../../lib/core/system-failures.ts'
import { directoryAround } from '../../lib/machine/directory/data-directory.ts'
import { parseText } from '../../local/flags.ts'
import { exportRecords } from '../records/export-records.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import { type OfSite, siteCommandOf } from '../terminal/arguments.ts'
import { interruptibly } from '../terminal/interruption.ts'
import { outputLost, Refusal, writeOut } from '../terminal/output.ts'

// In characters: the size of one write.
const piece = 64 * 1024

// Joins the records, one per line, into texts of about `piece` characters. Counts the records.
async function* piecesOf(records: AsyncIterable<object>, count: { exported: number }): AsyncGenerator<string, void> {
  let text = ''
  for await (const record of records) {
    text += `${count.exported === 0 ? '' : '\n'}${JSON.stringify(record)}`
    count.exported += 1
    if (text.length < piece) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
  // The last line end is written separately. Node does not report that a file took only part of a text, but the next
  // write then fails.
  if (count.exported > 0) yield '\n'
}

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

// Returns the number of records.
const writeTo = async (records: AsyncIterable<object>, out: Writable, signal: AbortSignal): Promise<number> => {
  const count = { exported: 0 }
  await pipeline(piecesOf(records, count), out, { signal })
  return count.exported
}

// Writes a complete file or none. Errors: those of the file system.
const writeWhole = async (records: AsyncIterable<object>, file: string, signal: AbortSignal): Promise<number> => {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    const count = await writeTo(records, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }), signal)
    renameSync(partial, file)
    return count
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

// Returns the target of a symbolic link, so that the link itself stays.
const resolveTarget = (file: string): string => (lstatSync(file, { throwIfNoEntry: false }) ? realpathSync(file) : file)

// An export into a data directory could overwrite the database.
const refuseWithin = (path: string, out: string): void => {
  const around = directoryAround(path)
  if (around === undefined) return
  throw new Refusal(`${out} is inside ${around}, where only the service writes. Name a file elsewhere.`)
}

const refusals: ReadonlyMap<SystemFailure | undefined, string> = new Map([
  ['missing', 'its folder does not exist. Create the folder first, or name another file'],
  ['notFolder', 'its folder does not exist. Create the folder first, or name another file'],
  ['isFolder', 'it is a directory. Name a file'],
  ['noRights', 'you lack the right to write it. Name a file in a folder that you may write into'],
  ['readOnlyDisk', 'its file system is read-only. Name a file elsewhere'],
  ['full', 'its disk is full. Free some space, or name a file elsewhere'],
])

// A file must not replace a device or a pipe.
const writeFile = async (records: AsyncIterable<object>, out: string, signal: AbortSignal): Promise<number> => {
  try {
    const path = resolveTarget(out)
    refuseWithin(path, out)
    const stats = statSync(path, { throwIfNoEntry: false })
    const takesAll = stats !== undefined && !stats.isFile() && !stats.isDirectory()
    return await (takesAll ? writeTo(records, createWriteStream(path), signal) : writeWhole(records, path, signal))
  } catch (error) {
    signal.throwIfAborted()
    if (!isSystemError(error)) throw error
    throw new Refusal(`${out} cannot be written: ${refusals.get(failureOf(error)) ?? reasonOf(error)}.`)
  }
}

const writeOutput = async (records: AsyncIterable<object>): Promise<void> => {
  for await (const text of piecesOf(records, { exported: 0 })) {
    const failure = await writeOut(text)
    if (failure) throw new Refusal(`${outputLost(failure)} The export is incomplete. Repeat the command.`)
  }
}

const run = async (stores: AdminStores, { site, out }: OfSite & { readonly out?: string }) => {
  const records = exportRecords(await areaOf(stores, site), site)
  if (out !== undefined) {
    const exported = await interruptibly(
      (signal) => writeFile(records, out, signal),
      new Refusal(`Interrupted: the export is incomplete, and ${out} is unchanged. Repeat the command.`),
    )
    return { exported, file: out }
  }
  await writeOutput(records)
  return undefined
}

const description = 'export everything of a site except its files, as JSON lines for "import"'

export const exportCommand = (): Command =>
  siteCommandOf('export', description, 'export --site 1001 --out site.jsonl')
    .option('--out <file>', 'the file to write (default: standard output)', parseText)
    .action(onStores(run))
