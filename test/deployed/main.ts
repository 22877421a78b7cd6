import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Deployment,
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
 * `npm run test:deployed`: deploys to the emulator at `AWS_ENDPOINT_URL`, or else to a MiniStack started for this, runs
 * the suites on what is deployed, and takes it down again. With `--emulator localstack`, LocalStack must be what
 * answers there.
 */
const usage = `Usage: npm run test:deployed -- [--emulator localstack [--smoke]]
With --smoke, LocalStack gets a short look, and what MiniStack cannot do. Without AWS_ENDPOINT_URL a MiniStack is started for it; LocalStack is looked for there (default http://127.0.0.1:4566).`

const reports = 'reports'

const smokeSuites = ['http', 'fields/read', 'categories/list', 'storage/read', 'storage/access']

/** Two data centres, since callers are sent from one to the other. */
const dataCentres = { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } }

/** CDK writes down dependencies that CloudFormation would find for itself (W3005). */
const lintOptions = ['--ignore-checks', 'W3005', '--']

/** Answers whether the linter finds nothing. */
const lint = async (pythonTools: string, { folder }: Deployment): Promise<boolean> => {
  const templates = join(folder, 'cdk.out', '*.template.json')
  const linter = spawn(join(pythonTools, 'cfn-lint'), [...lintOptions, templates], { stdio: 'inherit' })
  const [status] = await once(linter, 'exit')
  return status === 0
}

/** What is run on an emulator besides the suites that run on all of them. */
interface Extent {
  /** Runs against another data centre than the whole acceptance suite. */
  readonly elsewhere: (target: Target) => Promise<boolean>
  /** Runs beside the suites on what is synthesised. */
  readonly alongside: (deployment: Deployment) => Promise<boolean>
  /** Runs when nobody asks for the address of the gateway any more. */
  readonly streaming: (target: Target) => Promise<boolean>
  /** Runs when all suites have made the functions work. */
  readonly afterwards: (target: Target) => Promise<boolean>
}

const onDeployment = async (
  emulator: Emulator,
  folder: string,
  test: (target: Target, deployment: Deployment) => Promise<boolean>,
): Promise<boolean> => {
  const deployment = { emulator, dataCentres, folder }
  await synthesise(deployment)
  try {
    const outputs = await deploy(deployment)
    await registerMissing(emulator, dataCentres, outputs)
    return await test({ emulator, region: dataCentres.us.region, reports, outputs }, deployment)
  } finally {
    await destroy(deployment)
  }
}

/** Answers whether every suite passed. All of them run, whatever the ones before them found. */
const testOn = (emulator: Emulator, folder: string, extent: Extent): Promise<boolean> =>
  onDeployment(emulator, folder, async (target, deployment) => {
    const alongside = extent.alongside(deployment)
    // The stores have nothing to do with what is deployed: their suites do not wait for those of the service.
    const stores = runStoreContracts(target)
    const results = [await runAcceptance(target, 'us')]
    // Much of the time of these is waiting.
    results.push(...(await Promise.all([runEdge(target, 'us'), runMoving(target, 'us'), extent.elsewhere(target)])))
    results.push(await extent.streaming(target), await stores)
    results.push(await alongside, await extent.afterwards(target))
    return results.every(Boolean)
  })

/** A short look, and the cases that no other emulator can satisfy. */
const smokeOn = (emulator: Emulator, folder: string): Promise<boolean> =>
  onDeployment(emulator, folder, async (target) => {
    const results = await Promise.all([runAcceptance(target, 'us', smokeSuites), runStoreRest(target)])
    return results.every(Boolean) && (await runAcceptanceRest(target, 'us'))
  })

/** A clean folder for what is synthesised, and for the log of an emulator that is started. */
const cleanFolder = (name: string): string => {
  const folder = join('.local', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** On a LocalStack that runs already. What is deployed is the same as on MiniStack, where the templates are linted. */
const testOnLocalStack = async (endpoint: string, isSmoke: boolean): Promise<boolean> => {
  const emulator = await findEmulator(endpoint)
  if (emulator.name !== 'LocalStack') throw new Error(`${emulator.name} answers at ${endpoint}, and not LocalStack.`)
  const nothing = async () => true
  const folder = cleanFolder('deployed-localstack')
  if (isSmoke) return smokeOn(emulator, folder)
  return testOn(emulator, folder, { elsewhere: nothing, alongside: nothing, streaming: nothing, afterwards: nothing })
}

/** `recordings` is the folder in which the emulator leaves what functions send, where it does. */
const testWith = (emulator: Emulator, folder: string, pythonTools: string, recordings?: string): Promise<boolean> =>
  testOn(emulator, folder, {
    // The functions are the same ones: what differs is where they are, and where they send callers.
    elsewhere: (target) => runAcceptance(target, 'eu', ['http']),
    alongside: (deployment) => lint(pythonTools, deployment),
    streaming: (target) => runStreaming(target, 'us'),
    afterwards: async (target) => {
      if (recordings) return runGrants(target, 'us', recordings)
      console.warn('\nThis emulator does not show what functions send: that their grants are right is NOT TESTED.\n')
      return true
    },
  })

/** On the emulator at the endpoint, else on a MiniStack that leaves in a folder what functions send. */
const testOnAny = async (endpoint: string | undefined): Promise<boolean> => {
  const folder = cleanFolder('deployed')
  const pythonTools = preparePython(join('.local', 'python'), join(import.meta.dirname, 'requirements.txt'))
  if (endpoint) return testWith(await findEmulator(endpoint), folder, pythonTools)
  const recordings = resolve(folder, 'requests')
  const emulator = await startMiniStack(join(pythonTools, 'ministack'), folder, recordings)
  const interrupted = () => void emulator.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    return await testWith(emulator, folder, pythonTools, recordings)
  } finally {
    await emulator.stop()
  }
}

interface Wanted {
  readonly emulator: 'any' | 'localstack'
  readonly smoke: boolean
}

/** Undefined when the command line cannot be understood. */
const wantedOf = (): Wanted | undefined => {
  try {
    const options = { emulator: { type: 'string' }, smoke: { type: 'boolean' } } as const
    const { emulator = 'any', smoke = false } = parseArgs({ options }).values
    const isKnown = emulator === 'localstack' || (emulator === 'any' && !smoke)
    return isKnown ? { emulator, smoke } : undefined
  } catch {
    return undefined
  }
}

const run = async (): Promise<number> => {
  const wanted = wantedOf()
  if (!wanted) {
    console.error(usage)
    return 2
  }
  const endpoint = process.env['AWS_ENDPOINT_URL']?.replace(/\/+$/, '')
  if (wanted.emulator === 'any') return (await testOnAny(endpoint)) ? 0 : 1
  return (await testOnLocalStack(endpoint ?? 'http://127.0.0.1:4566', wanted.smoke)) ? 0 : 1
}

process.exitCode = await run()
