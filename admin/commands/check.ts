import { Command } from 'commander'
import { checkDirectory } from '../../local/check/check-directory.ts'
import { exampleOf } from '../arguments.ts'
import { FaultsFound, print, Refusal } from '../output.ts'
import type { GlobalOptions } from '../stores.ts'

const check = async ({ target, dataDir, json }: GlobalOptions): Promise<void> => {
  if (target !== 'local') throw new Refusal('"check" looks at the data directory of one machine: leave --target out.')
  const faults = await checkDirectory(dataDir)
  if (json) print({ faults }, json)
  else if (faults.length > 0) print(faults, json)
  else console.log('no faults')
  if (faults.length > 0) throw new FaultsFound()
}

export const checkCommand = (): Command =>
  new Command('check')
    .description('one machine: name every fault of the data directory, while the service runs or not')
    .addHelpText('after', exampleOf('check --data-dir /srv/site-admin'))
    .action((_options: object, self: Command) => check(self.optsWithGlobals<GlobalOptions>()))
