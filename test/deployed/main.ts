import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { deploy, destroy, type Emulator, findEmulator, outputsFile, synthesise } from '../../cdk/emulator.ts'
import { startMiniStack } from './ministack.ts'
import { preparePythonTools } from './python-tools.ts'
import { type Outputs, runAcceptance, runEdge, runGrants, runStoreContracts, type Target } from './suites.ts'

/**
 * `npm run test:deployed`: deploys two data centres in two regions to the emulator at `AWS_ENDPOINT_URL`, or else to one
 * started for this, runs the suites on them, and takes everything down again.
 */
const dataCentres = { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } }
const folder = join('.local', 'deployed')
const reports = 'reports'

/** CDK writes down dependencies that CloudFormation would find for itself (W3005). */
const lintOptions = ['--ignore-checks', 'W3005', '--']

/** Answers whether the linter finds nothing. */
const lint = async (pythonTools: string): Promise<boolean> => {
  const templates = join(folder, 'cdk.out', '*.template.json')
  const linter = spawn(join(pythonTools, 'cfn-lint'), [...lintOptions, templates], { stdio: 'inherit' })
  const [status] = await once(linter, 'exit')
  return status === 0
}

/**
 * Answers whether every suite passed. All of them run, whatever the ones before them found. `recordings` is the folder in which
 * the emulator leaves what functions send, where it does.
 */
const testOn = async (emulator: Emulator, pythonTools: string, recordings?: string): Promise<boolean> => {
  const deployment = { emulator, dataCentres, folder }
  await synthesise(deployment)
  const isClean = lint(pythonTools)
  try {
    await deploy(deployment)
    const outputs: Outputs = JSON.parse(readFileSync(outputsFile(deployment), 'utf8'))
    const target: Target = { emulator, region: dataCentres.us.region, reports, outputs }
    // The stores have nothing to do with what is deployed: their suites do not wait for those of the service.
    const stores = runStoreContracts(target)
    const results = [
      await runAcceptance(target, 'us'),
      await runAcceptance(target, 'eu'),
      await runEdge(target, 'us'),
      await stores,
      await isClean,
    ]
    // What functions send is held against their grants when all suites have made them work.
    if (recordings) results.push(await runGrants(target, 'us', recordings))
    else console.warn('\nThis emulator does not show what functions send: that their grants are right is NOT TESTED.\n')
    return results.every(Boolean)
  } finally {
    await destroy(deployment)
  }
}

const testOnOwnEmulator = async (pythonTools: string): Promise<boolean> => {
  const recordings = resolve(folder, 'requests')
  const emulator = await startMiniStack(join(pythonTools, 'ministack'), folder, recordings)
  const interrupted = () => void emulator.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    return await testOn(emulator, pythonTools, recordings)
  } finally {
    await emulator.stop()
  }
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const pythonTools = preparePythonTools(join('.local', 'python'))
const endpoint = process.env['AWS_ENDPOINT_URL']
const passed = await (endpoint ? testOn(await findEmulator(endpoint), pythonTools) : testOnOwnEmulator(pythonTools))
process.exitCode = passed ? 0 : 1
