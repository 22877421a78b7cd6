import { resolve } from 'node:path'
import { Command } from 'commander'
import { Interrupted } from '../../client/src/command/failure.ts'
import { SettingsError } from '../../lib/config/settings.ts'
import { errors, ServiceError } from '../../lib/core/errors.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { reserveDemoId } from '../../lib/machine/directory/demo-file.ts'
import { databaseFailure, UsageError } from '../../lib/machine/directory/faults.ts'
import { hasService } from '../../lib/machine/directory/locks.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import type { Site } from '../../lib/sites/site-directory.ts'
import { FaultsFound, print, Refusal } from '../terminal/output.ts'
import type { AdminStores, AreaStores } from './admin-stores.ts'

// In milliseconds (A-13).
const longestMemory = 30_000

// On one machine, all data centres are in one data directory, so they have the same stores.
const openLocalStores = async (dataDirectory: string): Promise<AdminStores> => {
  const { directory, stores, close } = await openMachine(dataDirectory)
  return {
    ...stores,
    sites: reserveDemoId(stores.sites, directory),
    areas: async () => ({ ...stores, files: async () => stores.files }),
    // Only a running service caches tokens. If no service runs, there is nothing to wait for.
    memory: async () => (hasService(directory) ? longestMemory : 0),
    [Symbol.asyncDispose]: close,
  }
}

export const siteOf = async ({ sites }: Pick<AdminStores, 'sites'>, id: SiteId): Promise<Site> => {
  const site = await sites.getSite(id)
  if (!site) throw new Refusal(`Site ${id} does not exist. "site list" lists all sites.`)
  return site
}

export const areaOf = async (stores: AdminStores, site: SiteId): Promise<AreaStores> =>
  stores.areas(await siteOf(stores, site))

export interface GlobalOptions {
  readonly target: 'local' | 'aws'
  readonly dataDir: string
  readonly stackPrefix: string
  readonly directoryRegion?: string
  readonly json: boolean
}

const openStores = async ({ target, dataDir, stackPrefix, directoryRegion }: GlobalOptions): Promise<AdminStores> => {
  if (target === 'local') return openLocalStores(dataDir)
  const endpoint = process.env['AWS_ENDPOINT_URL']
  // The message of the AWS client itself would not name the variable.
  if (endpoint && !URL.canParse(endpoint))
    throw new Refusal('AWS_ENDPOINT_URL is not a URL. Set it to one such as http://127.0.0.1:4566, or leave it out.')
  const { openAwsStores } = await import('./aws-stores.ts')
  return openAwsStores(stackPrefix, directoryRegion)
}

const placeOf = ({ target, dataDir, stackPrefix, directoryRegion }: GlobalOptions): string => {
  if (target === 'local') return `Data directory: ${resolve(dataDir)}`
  const address = process.env['AWS_ENDPOINT_URL'] || 'AWS'
  const region = directoryRegion || process.env['AWS_REGION'] || process.env['AWS_DEFAULT_REGION']
  return `Stacks: ${stackPrefix}-… at ${address}${region ? `, ${region}` : ''}`
}

// Names of errors about credentials that are missing, wrong or expired, or that lack permissions.
const rightsErrors: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
])

// A command may make several changes, so it cannot say that nothing was changed.
const storeFailures: ReadonlyMap<number, string> = new Map([
  [errors.unavailable.code, 'The store is busy or does not answer. Repeat the command: repeating is safe.'],
  [errors.outOfSpace.code, 'The disk is full. Free some space, then repeat the command: repeating is safe.'],
])

// Names of errors about a store that does not exist.
const lostStores: ReadonlyMap<string, string> = new Map([
  [
    'ResourceNotFoundException',
    'This region lacks a table of the service. If the table was deleted, docs/recovery.md describes how to restore ' +
      'it. Otherwise, name the region of a data centre with --directory-region, and check --stack-prefix.',
  ],
  [
    'NoSuchBucket',
    'The bucket of the data centre does not exist. Create it again and copy the files, as docs/recovery.md describes.',
  ],
])

/** A sentence that tells the user how to correct the failure. Undefined if the user cannot correct it. */
export const adviceOn = (error: unknown): string | undefined => {
  const failed = error instanceof ServiceError && storeFailures.get(error.code)
  if (failed) return failed
  if (!(error instanceof Error)) return undefined
  if (error instanceof Interrupted) return 'Interrupted. Nothing was changed.'
  const isClear = [Refusal, UsageError, SettingsError, ServiceError].some((kind) => error instanceof kind)
  if (isClear) return error.message
  const failure = databaseFailure(error)
  if (failure !== undefined) return failure
  const lost = lostStores.get(error.name)
  if (lost !== undefined) return lost
  if (!rightsErrors.has(error.name)) return undefined
  return `AWS refuses this: ${error.message.replace(/\.$/, '')}. Check your credentials and their permissions.`
}

const copyAdvice = ' If the home region of the directory is down, name a region with a copy: --directory-region.'

// Adds the place of the stores to messages that do not name it. Programming errors stay unchanged.
const located = (error: unknown, options: GlobalOptions): unknown => {
  const advice = adviceOn(error)
  if (advice === undefined || error instanceof UsageError) return error
  const isAway = error instanceof ServiceError && error.code === errors.unavailable.code
  const more = isAway && options.target === 'aws' && options.directoryRegion === undefined ? copyAdvice : ''
  return new Refusal(`${advice}${more} (${placeOf(options)})`, { cause: error })
}

/**
 * The action of a command: opens the stores that the command line names, runs `run` with its arguments and options,
 * prints the result and closes the stores. `forPeople` formats the result as text. Throws FaultsFound if the result has
 * faults.
 */
export const onStores =
  <Given extends readonly unknown[], Result extends object | undefined>(
    run: (stores: AdminStores, ...given: Given) => Promise<Result>,
    forPeople: (result: NonNullable<Result>) => object = (result) => result,
    hasFaults = (_: NonNullable<Result>): boolean => false,
  ) =>
  async (...given: Given): Promise<void> => {
    const command = given.at(-1)
    if (!(command instanceof Command)) throw new Error('Commander did not pass the command to its action')
    const options = command.optsWithGlobals<GlobalOptions>()
    try {
      await using stores = await openStores(options)
      const result = await run(stores, ...given)
      if (!result) return
      await print(options.json ? result : forPeople(result), options.json)
      if (hasFaults(result)) throw new FaultsFound()
    } catch (error) {
      throw located(error instanceof SuppressedError ? error.suppressed : error, options)
    }
  }
