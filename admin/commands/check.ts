import { Command } from 'commander'
import { checkDirectory } from '../../lib/machine/check/check-directory.ts'
import type { GlobalOptions } from '../stores/stores.ts'
import { exampleOf } from '../terminal/arguments.ts'
import { FaultsFound, print, printText, Refusal } from '../terminal/output.ts'

interface Options extends GlobalOptions {
  readonly bytes: boolean
}

const check = async ({ target, dataDir, json, bytes }: Options): Promise<void> => {
  if (target !== 'local') throw new Refusal('"check" looks at the data directory of one machine: leave --target out.')
  const faults = await checkDirectory(dataDir, { withBytes: bytes })
  if (json) await print({ faults }, json)
  else if (faults.length > 0) await print(faults, json)
  else await printText('no faults')
  if (faults.length > 0) throw new FaultsFound()
}

export const checkCommand = (): Command =>
  new Command('check')
    .description('one machine: name every fault of the data directory or of a backup, while the service runs or not')
    .addHelpText('after', exampleOf('check', 'check --bytes --data-dir /backups/2026-11-22'))
    .option('--bytes', 'also read every file, and compare it with its fingerprint', false)
    .action((_options: object, self: Command) => check(self.optsWithGlobals<Options>()))
