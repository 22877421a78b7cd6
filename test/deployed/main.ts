import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { deploy, destroy, type Emulator, findEmulator, synthesise } from '../../cdk/deploy-local.ts'
import { preparePython } from '../support/pinned-packages.ts'
import { claimTls, startMiniStack } from './ministack.ts'
import {
  gatewaySuites,
  runAcceptance,
  runAcceptanceRest,
  runEdge,
  runGrants,
  runMoving,
  runStoreContracts,
  runStoreRest,
  runStreaming,
  type Target,
} from './suites.ts'

/**
 * `npm run test:deployed` deploys to the emulator at `AWS_ENDPOINT_URL`, or to a MiniStack that it starts. It runs the
 * suites on the deployment, and removes it. With `--emulator localstack`, a LocalStack must run at that address.
 */
const flags = new Command('npm run test:deployed --')
  .option('--all', 'run every acceptance case, also those that `npm test` runs without an emulator', false)
  .addOption(new Option('--emulator <name>', 'run on the LocalStack that is running').choices(['localstack']))
  .addOption(
    new Option('--smoke', 'run a few suites on LocalStack, and the cases that MiniStack cannot pass')
      .default(false)
      .conflicts('all')
      .implies({ emulator: 'localstack' }),
  )
  .addHelpText('after', '\nAWS_ENDPOINT_URL is the address of the emulator, for LocalStack http://127.0.0.1:4566.')
  .parse()
  .opts<Flags>()

const reports = 'reports'

const smokeSuites = ['http', 'fields/read', 'categories/list', 'storage/read', 'storage/access']

/** Two data centres, because callers are redirected between them. */
const dataCentres = { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } }

interface Run {
  /** True for every acceptance case, false for those that need an emulator. */
  readonly all: boolean
  /** Only MiniStack, or a similar emulator, runs all suites. */
  readonly tools?: {
    /** The folder with the recorded requests of functions, if the emulator supports recording. */
    readonly recordings?: string | undefined
  }
}

const onDeployment = async (
  emulator: Emulator,
  folder: string,
  test: (target: Target) => Promise<boolean>,
  isOurs = false,
): Promise<boolean> => {
  const deployment = { emulator, dataCentres, folder }
  await synthesise(deployment)
  try {
    const outputs = await deploy(deployment)
    return await test({ emulator, region: dataCentres.us.region, reports, outputs })
  } finally {
    // If this run started the emulator, all resources end with it.
    if (!isOurs) await destroy(deployment)
  }
}

const compareGrants = async (target: Target, recordings: string | undefined): Promise<boolean> => {
  if (recordings) return runGrants(target, 'us', recordings)
  console.warn('\nThis emulator does not show the requests of functions: their grants are NOT TESTED.\n')
  return true
}

const testOn = (emulator: Emulator, folder: string, { all, tools }: Run): Promise<boolean> => {
  const test = async (target: Target) => {
    // The buckets of these suites do not depend on the deployment.
    const stores = runStoreContracts(target)
    // Many of these suites wait for a queue or a clock, so they run together.
    const results = await Promise.all([runAcceptance(target, 'us', all ? [] : gatewaySuites), runEdge(target, 'us')])
    // The functions of the other data centre are the same. Only their location and redirects differ.
    const elsewhere = !tools || runAcceptance(target, 'eu', [all ? 'http' : 'http/data-centres'])
    results.push(...(await Promise.all([elsewhere, runMoving(target, 'us', resolve(folder)), stores])))
    // No other suite may use the gateway at the same time.
    if (tools) results.push(await runStreaming(target, 'us', all))
    // All suites before this one have used the functions.
    if (tools) results.push(await compareGrants(target, tools.recordings))
    return results.every(Boolean)
  }
  return onDeployment(emulator, folder, test, tools?.recordings !== undefined)
}

const smokeOn = (emulator: Emulator, folder: string): Promise<boolean> =>
  onDeployment(emulator, folder, async (target) => {
    const results = await Promise.all([runAcceptance(target, 'us', smokeSuites), runStoreRest(target)])
    return results.every(Boolean) && (await runAcceptanceRest(target, 'us'))
  })

const cleanFolder = (name: string): string => {
  const folder = join('.cache', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

interface Flags {
  readonly emulator?: string
  readonly smoke: boolean
  readonly all: boolean
}

/** Runs the suites on a running LocalStack. The deployment is the same as on MiniStack. */
const testOnLocalStack = async (endpoint: string, { smoke, all }: Flags): Promise<boolean> => {
  const emulator = await findEmulator(endpoint)
  if (emulator.name !== 'LocalStack') throw new Error(`${emulator.name} answers at ${endpoint}, not LocalStack.`)
  const folder = cleanFolder('deployed-localstack')
  return smoke ? smokeOn(emulator, folder) : testOn(emulator, folder, { all })
}

/** Runs on the emulator at the endpoint, or on a new MiniStack that records the requests of functions. */
const testOnAny = async (endpoint: string | undefined, { all }: Flags): Promise<boolean> => {
  const folder = cleanFolder('deployed')
  const python = preparePython(join('.cache', 'python'), join(import.meta.dirname, 'requirements.txt'))
  if (endpoint) return testOn(await findEmulator(endpoint), folder, { all, tools: {} })
  const recordings = resolve(folder, 'requests')
  claimTls()
  const emulator = await startMiniStack(join(python, 'ministack'), folder, recordings)
  const interrupted = () => void emulator.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    return await testOn(emulator, folder, { all, tools: { recordings } })
  } finally {
    await emulator.stop()
  }
}

// `npm run lint:templates` and `npm run test:long` check the templates.
process.env['CDK_VALIDATION'] = 'false'
const endpoint = process.env['AWS_ENDPOINT_URL']?.replace(/\/+$/, '')
const onLocalStack = () => testOnLocalStack(endpoint ?? 'http://127.0.0.1:4566', flags)
process.exitCode = (await (flags.emulator ? onLocalStack() : testOnAny(endpoint, flags))) ? 0 : 1
