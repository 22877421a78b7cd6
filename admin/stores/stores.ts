import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { SiteId } from '../../lib/core/ids.ts'
import { hasService } from '../../lib/machine/directory/directory-use.ts'
import { UsageError } from '../../lib/machine/directory/failures.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import type { Site } from '../../lib/sites/site-directory.ts'
import { print, Refusal } from '../terminal/output.ts'
import type { AdminStores } from './admin-stores.ts'
import { adviceOn } from './advice.ts'

// In milliseconds (A-13).
const longestMemory = 30_000

// All data centres share the directory.
const openLocalStores = async (dataDirectory: string): Promise<AdminStores> => {
  const { directory, stores, close } = await openMachine(dataDirectory)
  return {
    ...stores,
    areas: async () => stores,
    // Only a service remembers tokens: without one there is nobody to wait for.
    memory: async () => (hasService(directory) ? longestMemory : 0),
    close,
  }
}

/** Throws a Refusal if there is no such site. */
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

// The AWS client would fail with an obscure message.
const checkEndpoint = (endpoint: string | undefined): void => {
  if (!endpoint || URL.canParse(endpoint)) return
  throw new Refusal('AWS_ENDPOINT_URL is no URL. Set it to one such as http://127.0.0.1:4566, or leave it out.')
}

const openStores = async ({ target, dataDir, stackPrefix }: GlobalOptions): Promise<AdminStores> => {
  if (target === 'local') return openLocalStores(dataDir)
  checkEndpoint(process.env['AWS_ENDPOINT_URL'])
  const { openAwsStores } = await import('./aws-stores.ts')
  return openAwsStores(stackPrefix)
}

const placeOf = ({ target, dataDir, stackPrefix }: GlobalOptions): string => {
  if (target === 'local') return `Data directory: ${resolve(dataDir)}`
  const address = process.env['AWS_ENDPOINT_URL'] || 'AWS'
  const region = process.env['AWS_REGION'] || process.env['AWS_DEFAULT_REGION']
  return `Stacks: ${stackPrefix}-… at ${address}${region ? `, ${region}` : ''}`
}

// Adds the place to messages that do not name it. Program faults stay as they are.
const located = (error: unknown, options: GlobalOptions): unknown => {
  const advice = adviceOn(error)
  if (advice === undefined || error instanceof UsageError) return error
  return new Refusal(`${advice} (${placeOf(options)})`, { cause: error })
}

/** Opens the stores of the command line, runs the command, prints its result and closes them. */
export const withStores = async <Result extends object | readonly object[] | undefined>(
  command: Command,
  run: (stores: AdminStores) => Promise<Result>,
  // The part of the result that is shown as text.
  forPeople: (result: NonNullable<Result>) => object | readonly object[] = (result) => result,
): Promise<void> => {
  const options = command.optsWithGlobals<GlobalOptions>()
  try {
    const stores = await openStores(options)
    try {
      const result = await run(stores)
      if (result) await print(options.json ? result : forPeople(result), options.json)
    } finally {
      await stores.close()
    }
  } catch (error) {
    throw located(error, options)
  }
}
