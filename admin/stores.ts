import type { Command } from 'commander'
import type { SiteId } from '../lib/ids.ts'
import type { Site } from '../lib/sites/site-directory.ts'
import type { Stores } from '../lib/stores.ts'
import { openMachine } from '../local/machine.ts'
import { print, Refusal } from './output.ts'

/** The stores that an import fills. */
export type ContentStores = Pick<Stores, 'webForms' | 'contents' | 'links'>

/** The stores of one data centre that commands work on. */
export interface AreaStores extends ContentStores, Pick<Stores, 'workflows' | 'history'> {
  readonly files: Pick<Stores['files'], 'keptBelow'>
}

/** What the commands work on: the directory, and what belongs to each data centre. */
export interface AdminStores extends Pick<Stores, 'sites' | 'grants'> {
  /** The stores of the data centre where a site lives. */
  areas(site: Site): Promise<AreaStores>
  close(): Promise<void>
}

/** The stores in a local data directory, which all data centres share. */
const openLocalStores = async (dataDirectory: string): Promise<AdminStores> => {
  const { stores, close } = await openMachine(dataDirectory)
  return { ...stores, areas: async () => stores, close }
}

/** The site of that id. Throws a Refusal when there is none. */
export const siteOf = async ({ sites }: Pick<AdminStores, 'sites'>, id: SiteId): Promise<Site> => {
  const site = await sites.getSite(id)
  if (!site) throw new Refusal(`There is no site ${id}. "site list" shows those that there are.`)
  return site
}

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
