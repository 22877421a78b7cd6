import type { Command } from 'commander'
import { print } from './output.ts'
import { type AdminStores, openLocalStores } from './stores.ts'

export interface GlobalOptions {
  readonly target: 'local' | 'aws'
  readonly dataDir: string
  readonly stackPrefix: string
  readonly json: boolean
}

const openStores = async ({ target, dataDir, stackPrefix }: GlobalOptions): Promise<AdminStores> => {
  if (target === 'local') return openLocalStores(dataDir)
  const { openAwsStores } = await import('./aws-stores.ts')
  return openAwsStores(stackPrefix)
}

/** Runs a command on the stores that the command line names, prints its result, and closes them. */
export const withStores = async (
  command: Command,
  run: (stores: AdminStores) => Promise<object | readonly object[]>,
): Promise<void> => {
  const options = command.optsWithGlobals<GlobalOptions>()
  const stores = await openStores(options)
  try {
    print(await run(stores), options.json)
  } finally {
    await stores.close()
  }
}
