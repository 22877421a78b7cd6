import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Emulator, emulatorEnvironment } from '../../cdk/emulator.ts'

const administration = [process.execPath, join('admin', 'main.ts'), '--target', 'aws', '--json'] as const

/** The folders of test/contract whose suites run on any store. How capacity is reported, each store decides for itself. */
const storeSuites = [
  ...['access', 'sites', 'fields', 'categories'].map((area) => join('test', 'contract', area)),
  join('test', 'contract', 'storage', 'uploads-table'),
  join('test', 'contract', 'storage', 's3-'),
]
const ofOneStore = ['--exclude', '**/cost.test.ts']

/** Cases that MiniStack cannot satisfy: it ignores the range of a read that names a version. */
const beyondMiniStack = [
  'answers the range .* with 206',
  'goes on with a range only while',
  'reads a range of the very state',
]

/** All cases but those that an emulator is known to fail for reasons of its own. */
const provableOn = ({ name }: Emulator): readonly string[] =>
  name === 'MiniStack' ? ['--testNamePattern', `^(?!.*(${beyondMiniStack.join('|')}))`] : []

/** What the suites need to know: where things are, and where their results go. */
export interface Target {
  readonly emulator: Emulator
  /** The home of the directory. */
  readonly region: string
  /** The folder for the results, as JSON. */
  readonly reports: string
}

const runFile = promisify(execFile)

/** Runs `site-admin --target aws` and answers the value that it prints. */
const administer = async ({ emulator, region }: Target, ...args: readonly string[]) => {
  const [node, ...command] = administration
  const env = emulatorEnvironment(emulator, region)
  const { stdout } = await runFile(node, [...command, ...args], { env })
  return JSON.parse(stdout)
}

/** Runs one suite to its end, and answers whether all of it passed. */
const runSuite = async (target: Target, name: string, args: readonly string[], env: NodeJS.ProcessEnv) => {
  console.log(`\n${name}`)
  const report = join(target.reports, `deployed-${name}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const child = spawn('vitest', ['run', ...args, ...reporters], {
    stdio: 'inherit',
    env: { ...emulatorEnvironment(target.emulator, target.region), ...env },
  })
  const [status] = await once(child, 'exit')
  return status === 0
}

/** The black-box suite against one data centre, on a site and with a token made for it. */
export const runAcceptance = async (target: Target, dataCentre: string, baseUrl: string): Promise<boolean> => {
  const { id } = await administer(target, 'site', 'create', '--name', 'Acceptance', '--data-centre', dataCentre)
  const granted = ['--user', 'acceptance', '--site', String(id), '--permission', 'files']
  const { token } = await administer(target, 'token', 'issue', ...granted)
  return runSuite(target, `acceptance-${dataCentre}`, ['--project', 'acceptance', ...provableOn(target.emulator)], {
    ACCEPTANCE_BASE_URL: baseUrl,
    ACCEPTANCE_TOKEN: token,
    ACCEPTANCE_ADMIN: administration.map((word) => `"${word}"`).join(' '),
  })
}

/** The contract suites of the stores, against tables and buckets of their own in what speaks DynamoDB and S3 there. */
export const runStoreContracts = (target: Target): Promise<boolean> =>
  runSuite(
    target,
    'stores',
    ['--project', 'contract', ...storeSuites, ...ofOneStore, ...provableOn(target.emulator)],
    {},
  )
