import { join } from 'node:path'
import { functionEntry, functionNames } from '../cdk/functions.ts'
import { measureBundle } from './bundles/measure-bundle.ts'
import { measureSynth } from './bundles/synth.ts'
import { inScratchFolder } from './scratch-folder.ts'
import type { Bench, Table } from './table.ts'

/** What is deployed: the bundle of every function, and how long the app takes to put together. */
export const bundles: Bench = () =>
  inScratchFolder(async (folder) => {
    const tables: Table[] = []
    for (const name of functionNames) {
      const clients = join(import.meta.dirname, 'bundles', `${name}-clients.ts`)
      tables.push(await measureBundle({ name, entry: functionEntry(name), clients, folder }))
    }
    return [...tables, await measureSynth(folder)]
  })
