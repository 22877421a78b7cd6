import { Readable } from 'node:stream'
import { importRecords } from '../../admin/commands/import.ts'
import { run as runAdmin } from '../../admin/program.ts'
import { readRecords } from '../../admin/records/read-records.ts'
import type { ContentStores } from '../../admin/stores/admin-stores.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { type Outcome, run } from './program.ts'
import { type CommandOutput, runHere } from './run-here.ts'

export const administerWith = (args: readonly string[], input?: string): Promise<CommandOutput> =>
  runHere(runAdmin, args, input)

export const administer = (dataDirectory: string, args: readonly string[], input?: string): Promise<CommandOutput> =>
  administerWith(['--data-dir', dataDirectory, ...args], input)

/** Runs `site-admin` in its own process. The signal ends the process, for example when a test has timed out. */
export const administerApart = (
  dataDirectory: string,
  args: readonly string[],
  input?: string,
  signal?: AbortSignal,
): Promise<Outcome> => run('admin/main.js', ['--data-dir', dataDirectory, ...args], input, signal)

/** Runs `site-admin --json` and returns the printed value. Rejects if the command fails. */
export const administerJson = async (dataDirectory: string, args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = await administer(dataDirectory, ['--json', ...args], input)
  if (status !== 0) throw new Error(`site-admin ${args.join(' ')} ended with status ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Commands on a data directory: `run` returns the printed value, and `attempt` any outcome. */
export const commandsOn = (dataDirectory: string) => ({
  run: (line: string, input?: string) => administerJson(dataDirectory, line.split(' '), input),
  attempt: (line: string, input?: string) => administer(dataDirectory, line.split(' '), input),
})

export const refusal = (dataDirectory: string, reason: string): CommandOutput => ({
  status: 1,
  stdout: '',
  stderr: `${reason} (Data directory: ${dataDirectory})\n`,
})

export const jsonLines = (records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** Imports records, as `site-admin import` does. */
export const importInto = (stores: ContentStores, site: SiteId, records: readonly unknown[]) =>
  importRecords(readRecords(Readable.from([jsonLines(records)])), site, stores)
