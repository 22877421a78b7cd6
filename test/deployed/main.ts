import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  deploy,
  destroy,
  type Emulator,
  findEmulator,
  registerMissing,
  synthesise,
} from '../../cdk/emulator/emulator.ts'
import { preparePython } from '../support/python-environment.ts'
import { startMiniStack } from './ministack.ts'
import {
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
const usage = `Usage: npm run test:deployed -- [--emulator localstack [--smoke]]
With --smoke, LocalStack gets a short look, and what MiniStack cannot do. Without AWS_ENDPOINT_URL a MiniStack is started for it; LocalStack is looked for there (default http://127.0.0.1:4566).`

const reports = 'reports'

const smokeSuites = ['http', 'fields/read', 'categories/list', 'storage/read', 'storage/access']

/** Two data centres, because callers are redirected between them. */
const dataCentres = { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } }

/** Only MiniStack, or an emulator like it, can run all suites. */
interface Tools {
  /** The folder with the recorded requests of functions, if the emulator supports recording. */
  readonly recordings?: string | undefined
}

const onDeployment = async (
  emulator: Emulator,
  folder: string,
  test: (target: Target) => Promise<boolean>,
): Promise<boolean> => {
  const deployment = { emulator, dataCentres, folder }
  await synthesise(deployment)
  try {
    const outputs = await deploy(deployment)
    await registerMissing(emulator, dataCentres, outputs)
    return await test({ emulator, region: dataCentres.us.region, reports, outputs })
  } finally {
    await destroy(deployment)
  }
}

const compareGrants = async (target: Target, recordings: string | undefined): Promise<boolean> => {
  if (recordings) return runGrants(target, 'us', recordings)
  console.warn('\nThis emulator does not show the requests of functions: their grants are NOT TESTED.\n')
  return true
}

/** True if every suite passed. After a failure of one suite, the other suites still run. */
const testOn = (emulator: Emulator, folder: string, tools?: Tools): Promise<boolean> =>
  onDeployment(emulator, folder, async (target) => {
    // The buckets of these suites do not depend on the deployment.
    const stores = runStoreContracts(target)
    const results = [await runAcceptance(target, 'us')]
    // The functions of the other data centre are the same. Only their location and redirects differ.
    const elsewhere = tools && runAcceptance(target, 'eu', ['http'])
    results.push(...(await Promise.all([runEdge(target, 'us'), runMoving(target, 'us'), elsewhere ?? true])))
    // No other suite may use the gateway at the same time.
    if (tools) results.push(await runStreaming(target, 'us'))
    results.push(await stores)
    // All suites before this one have used the functions.
    if (tools) results.push(await compareGrants(target, tools.recordings))
    return results.every(Boolean)
  })

/** A short run, and the cases that only this emulator can pass. */
const smokeOn = (emulator: Emulator, folder: string): Promise<boolean> =>
  onDeployment(emulator, folder, async (target) => {
    const results = await Promise.all([runAcceptance(target, 'us', smokeSuites), runStoreRest(target)])
    return results.every(Boolean) && (await runAcceptanceRest(target, 'us'))
  })

/** An empty folder for templates, and for the log of an emulator. */
const cleanFolder = (name: string): string => {
  const folder = join('.local', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Runs on a running LocalStack. The deployment is the same as on MiniStack. */
const testOnLocalStack = async (endpoint: string, isSmoke: boolean): Promise<boolean> => {
  const emulator = await findEmulator(endpoint)
  if (emulator.name !== 'LocalStack') throw new Error(`${emulator.name} answers at ${endpoint}, not LocalStack.`)
  const folder = cleanFolder('deployed-localstack')
  return isSmoke ? smokeOn(emulator, folder) : testOn(emulator, folder)
}

/** Runs on the emulator at the endpoint, or on a new MiniStack that records the requests of functions. */
const testOnAny = async (endpoint: string | undefined): Promise<boolean> => {
  const folder = cleanFolder('deployed')
  const python = preparePython(join('.local', 'python'), join(import.meta.dirname, 'requirements.txt'))
  if (endpoint) return testOn(await findEmulator(endpoint), folder, {})
  const recordings = resolve(folder, 'requests')
  const emulator = await startMiniStack(join(python, 'ministack'), folder, recordings)
  const interrupted = () => void emulator.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    return await testOn(emulator, folder, { recordings })
  } finally {
    await emulator.stop()
  }
}

/** Undefined for a wrong command line. */
const readFlags = () => {
  try {
    const options = { emulator: { type: 'string' }, smoke: { type: 'boolean', default: false } } as const
    const { emulator, smoke } = parseArgs({ options }).values
    const isKnown = emulator === 'localstack' || (emulator === undefined && !smoke)
    return isKnown ? { isLocalStack: emulator !== undefined, smoke } : undefined
  } catch {
    return undefined
  }
}

const run = async (): Promise<number> => {
  const flags = readFlags()
  if (!flags) {
    console.error(usage)
    return 2
  }
  const endpoint = process.env['AWS_ENDPOINT_URL']?.replace(/\/+$/, '')
  if (!flags.isLocalStack) return (await testOnAny(endpoint)) ? 0 : 1
  return (await testOnLocalStack(endpoint ?? 'http://127.0.0.1:4566', flags.smoke)) ? 0 : 1
}

process.exitCode = await run()
