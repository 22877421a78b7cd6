import type { Command } from 'commander'
import { print } from './output.ts'
import { openLocalStores, type Stores } from './stores.ts'

interface GlobalOptions {
  readonly dataDir: string
  readonly json: boolean
}

/** Runs a command on the stores that the command line names, prints its result, and closes them. */
export const withStores = async (
  command: Command,
  run: (stores: Stores) => Promise<object | readonly object[]>,
): Promise<void> => {
  const { dataDir, json } = command.optsWithGlobals<GlobalOptions>()
  const stores = await openLocalStores(dataDir)
  try {
    print(await run(stores), json)
  } finally {
    await stores.close()
  }
}
