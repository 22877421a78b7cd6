import { Command } from 'commander'
import { addServiceOptions, flagsOf, type RawFlags } from '../../local/flags.ts'
import type { GlobalOptions } from '../stores/stores.ts'
import { exampleOf } from '../terminal/arguments.ts'
import { Refusal } from '../terminal/output.ts'

/** Does what `npm start` does. The server is loaded on demand: other commands need little of it. */
export const serveCommand = (): Command =>
  addServiceOptions(new Command('serve'))
    .description('one machine: serve the data directory, which is made when it is not there')
    .addHelpText('after', exampleOf('serve --data-dir /var/lib/site-admin --base-url https://sites.example'))
    .action(async (_options: object, self: Command) => {
      const { target, stackPrefix: _, ...flags } = self.optsWithGlobals<GlobalOptions & RawFlags>()
      if (target !== 'local') throw new Refusal('"serve" is for one machine: leave --target out.')
      const { serve } = await import('../../local/start.ts')
      await serve(flagsOf(flags))
    })
