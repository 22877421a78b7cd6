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
 * `npm run test:deployed` deploys to the emulator at `AWS_ENDPOINT_URL`, or to its own MiniStack, runs the suites on
 * the deployment, and removes it. With `--emulator localstack`, LocalStack must answer there.
 */
const usage = `Usage: npm run test:deployed -- [--emulator localstack [--smoke]]
With --smoke, LocalStack gets a short look, and what MiniStack cannot do. Without AWS_ENDPOINT_URL a MiniStack is started for it; LocalStack is looked for there (default http://127.0.0.1:4566).`

const reports = 'reports'

const smokeSuites = ['http', 'fields/read', 'categories/list', 'storage/read', 'storage/access']

/** Two data centres, because callers are redirected between them. */
const dataCentres = { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } }

/** CDK writes dependencies that CloudFormation would find itself (W3005). */
const lintOptions = ['--ignore-checks', 'W3005', '--']

/** True if the linter finds nothing. */
const lint = async (pythonTools: string, { folder }: Deployment): Promise<boolean> => {
  const templates = join(folder, 'cdk.out', '*.template.json')
  const linter = spawn(join(pythonTools, 'cfn-lint'), [...lintOptions, templates], { stdio: 'inherit' })
  const [status] = await once(linter, 'exit')
  return status === 0
}

/** The suites of an emulator beyond those that run on all. */
interface Extent {
  /** Runs against another data centre than the whole acceptance suite. */
  readonly elsewhere: (target: Target) => Promise<boolean>
  /** Runs on the synthesised templates, in parallel with the suites. */
  readonly alongside: (deployment: Deployment) => Promise<boolean>
  /** Runs when no other suite uses the gateway any more. */
  readonly streaming: (target: Target) => Promise<boolean>
  /** Runs after all suites have used the functions. */
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

/** True if every suite passed. A failure does not stop the others. */
const testOn = (emulator: Emulator, folder: string, extent: Extent): Promise<boolean> =>
  onDeployment(emulator, folder, async (target, deployment) => {
    const alongside = extent.alongside(deployment)
    // The stores do not depend on the deployment, so their suites run in parallel with those of the service.
    const stores = runStoreContracts(target)
    const results = [await runAcceptance(target, 'us')]
    // These suites mostly wait.
    results.push(...(await Promise.all([runEdge(target, 'us'), runMoving(target, 'us'), extent.elsewhere(target)])))
    results.push(await extent.streaming(target), await stores)
    results.push(await alongside, await extent.afterwards(target))
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

/** On a running LocalStack. The deployment is the same as on MiniStack, where the templates are linted. */
const testOnLocalStack = async (endpoint: string, isSmoke: boolean): Promise<boolean> => {
  const emulator = await findEmulator(endpoint)
  if (emulator.name !== 'LocalStack') throw new Error(`${emulator.name} answers at ${endpoint}, and not LocalStack.`)
  const nothing = async () => true
  const folder = cleanFolder('deployed-localstack')
  if (isSmoke) return smokeOn(emulator, folder)
  return testOn(emulator, folder, { elsewhere: nothing, alongside: nothing, streaming: nothing, afterwards: nothing })
}

/** `recordings` is the folder with the recorded requests of functions, if the emulator supports it. */
const testWith = (emulator: Emulator, folder: string, pythonTools: string, recordings?: string): Promise<boolean> =>
  testOn(emulator, folder, {
    // The functions are the same. Only their location and redirects differ.
    elsewhere: (target) => runAcceptance(target, 'eu', ['http']),
    alongside: (deployment) => lint(pythonTools, deployment),
    streaming: (target) => runStreaming(target, 'us'),
    afterwards: async (target) => {
      if (recordings) return runGrants(target, 'us', recordings)
      console.warn('\nThis emulator does not show what functions send: that their grants are right is NOT TESTED.\n')
      return true
    },
  })

/** On the emulator at the endpoint, or on an own MiniStack that records the requests of functions. */
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

/** Undefined for a wrong command line. */
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
