import { statSync } from 'node:fs'
import { Command } from 'commander'
import type { SiteId } from '../../lib/ids.ts'
import { parsePositiveId } from '../arguments.ts'
import { withStores } from '../context.ts'
import { importRecords } from '../import/import-records.ts'
import { drawProgress } from '../import/progress.ts'
import { readInput } from '../import/read-input.ts'
import { readRecords } from '../import/read-records.ts'
import { Refusal } from '../refusal.ts'
import { siteOf } from '../stores.ts'

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
