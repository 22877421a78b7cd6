import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { bundleStream } from '../../cdk/config/bundles.ts'
import { type Emulator, emulatorEnvironment, type Outputs, outputOf } from '../../cdk/emulator/emulator.ts'

const administration = [process.execPath, join('admin', 'main.js'), '--target', 'aws', '--json'] as const

/** The suites of test/contract whose tables and buckets are those of the emulator. */
const storeSuites = [
  join('test', 'contract', 'ports'),
  join('test', 'contract', 'aws', 'web-forms'),
  join('test', 'contract', 'storage', 's3-object-store'),
  join('test', 'contract', 'storage', 's3-conditions'),
]

/**
 * Cases that an emulator cannot satisfy for reasons of its own, by what their names match, and why. They are reported
 * as skipped.
 */
const beyond: Readonly<Record<Emulator['name'], Readonly<Record<string, string>>>> = {
  MiniStack: {
    'answers the range .* with 206': 'it ignores the range of a read that names a version',
    'goes on with a range only while': 'it ignores the range of a read that names a version',
    'reads a range of the very state': 'it ignores the range of a read that names a version',
    'a URL of which a range can be asked for': 'it ignores the range of a read that names a version',
    'a URL that makes an attachment of a file': 'it ignores the headers that a signed URL asks for',
    'is listed in pages, and what is there again': 'it tells all folders of a listing of versions on each of its pages',
    'for whoever leaves the signature out': 'it lets everybody read who does not say who he is',
  },
  LocalStack: {
    'takes form data, in every way': 'it drops the forms of all methods but POST, PUT and PATCH',
    'Content-Type: multipart/form-data; boundary=x is 415': 'it answers for itself when a multipart body is malformed',
    'with a body that is no multipart is 400': 'it answers for itself when a multipart body is malformed',
    'with a nameless part that is declared as bytes is 400': 'it writes multipart bodies anew, without such parts',
    'with a name that is not UTF-8 is 400': 'it writes multipart bodies anew, with names that are',
    'with a part that cannot be read beside a good one': 'it writes multipart bodies anew, without such parts',
    'counts a file name from its last slash or backslash on': 'it writes multipart bodies anew, without backslashes',
    'have their type told again when they are unchanged': 'it takes the type and the time out of an answer with 304',
    'let one of two through that come at the same time': 'it knows no conditions of a removal',
    'for whoever leaves the signature out': 'it lets everybody read who does not say who he is',
  },
}

/**
 * Functions start one after the other for requests that come at once: on a small machine that takes its time. In
 * milliseconds.
 */
const patience = 90_000

/** All cases but those. */
const provableOn = ({ name }: Emulator): readonly string[] => [
  '--testNamePattern',
  `^(?!.*(${Object.keys(beyond[name]).join('|')}))`,
]

/** The cases that this emulator alone can satisfy. */
const provableOnlyOn = ({ name }: Emulator): readonly string[] => {
  const others = Object.entries(beyond).flatMap(([other, names]) => (other === name ? [] : Object.keys(names)))
  return ['--testNamePattern', others.filter((each) => !(each in beyond[name])).join('|')]
}

/** What the suites need to know: where things are, and where their results go. */
export interface Target {
  readonly emulator: Emulator
  readonly outputs: Outputs
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
  console.log(`\n${name} on ${target.emulator.name}`)
  const report = join(target.reports, `deployed-${target.emulator.name.toLowerCase()}-${name}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const child = spawn('vitest', ['run', ...args, ...reporters], {
    stdio: 'inherit',
    env: { ...emulatorEnvironment(target.emulator, target.region), ...env },
  })
  const [status] = await once(child, 'exit')
  return status === 0
}

/** A new site in a data centre, and a token with all permissions for it. */
const createSite = async (target: Target, dataCentre: string) => {
  const { id } = await administer(target, 'site', 'create', '--name', 'Tests', '--data-centre', dataCentre)
  const granted = ['--user', 'tests', '--site', String(id), '--permission', 'files']
  const { token } = await administer(target, 'token', 'issue', ...granted)
  return { id: String(id), token: String(token) }
}

interface Acceptance {
  readonly dataCentre: string
  /** In the name of the report: the data centre by default. */
  readonly name?: string
  readonly url: string
  /** All of the cases by default. */
  readonly suites?: readonly string[]
  /** The cases that the emulator can satisfy, by default. */
  readonly cases?: readonly string[]
  readonly largestFile?: number
}

/** The black-box suite against an address of a data centre, on a site and with a token made for it. */
const acceptAt = async (
  target: Target,
  { dataCentre, name = dataCentre, url, suites = [], cases = provableOn(target.emulator), largestFile }: Acceptance,
) => {
  const { token } = await createSite(target, dataCentre)
  const options = ['--project', 'acceptance', ...cases, ...suites]
  return runSuite(target, `acceptance-${name}`, options, {
    ACCEPTANCE_PATIENCE: String(patience),
    ACCEPTANCE_BASE_URL: url,
    ACCEPTANCE_TOKEN: token,
    ACCEPTANCE_ADMIN_ARGS: '--target aws',
    ...(largestFile !== undefined && { ACCEPTANCE_LARGEST_FILE: String(largestFile) }),
  })
}

/** Cases of the black-box suite, by their folders. */
const casesOf = (folders: readonly string[]): readonly string[] =>
  folders.map((folder) => join('test', 'acceptance', folder))

/** The black-box suite against one data centre: all of it, or some of its folders. */
export const runAcceptance = (target: Target, dataCentre: string, folders: readonly string[] = []): Promise<boolean> =>
  acceptAt(target, { dataCentre, url: outputOf(target.outputs, dataCentre, 'BaseUrl'), suites: casesOf(folders) })

/** The cases of the black-box suite that no other emulator can satisfy. */
export const runAcceptanceRest = (target: Target, dataCentre: string): Promise<boolean> => {
  const url = outputOf(target.outputs, dataCentre, 'BaseUrl')
  return acceptAt(target, { dataCentre, name: 'rest', url, cases: provableOnlyOn(target.emulator) })
}

/** What the functions of the storage are told when they are deployed, so that their entries run in a test as well. */
const storageSettings = (target: Target, dataCentre: string) => ({
  DATA_CENTRE: dataCentre,
  SITES_TABLE: outputOf(target.outputs, 'directory', 'SitesTable'),
  TOKENS_TABLE: outputOf(target.outputs, 'directory', 'TokensTable'),
  JOURNAL_TABLE: outputOf(target.outputs, dataCentre, 'JournalTable'),
  PATH_LOCKS_TABLE: outputOf(target.outputs, dataCentre, 'PathLocksTable'),
  UPLOADS_TABLE: outputOf(target.outputs, dataCentre, 'UploadsTable'),
  FILES_BUCKET: outputOf(target.outputs, dataCentre, 'FilesBucket'),
  REMOVALS_QUEUE_URL: outputOf(target.outputs, dataCentre, 'RemovalsQueue'),
})

const runOnDeployment = async (target: Target, dataCentre: string, name: string, env: NodeJS.ProcessEnv) => {
  const { id, token } = await createSite(target, dataCentre)
  const options = ['--config', join('test', 'deployed', 'vitest.config.ts'), ...provableOn(target.emulator)]
  return runSuite(target, name, [...options, name], {
    ...storageSettings(target, dataCentre),
    DEPLOYED_BASE_URL: outputOf(target.outputs, dataCentre, 'BaseUrl'),
    DEPLOYED_FAILED_REMOVALS_QUEUE: outputOf(target.outputs, dataCentre, 'FailedRemovalsQueue'),
    DEPLOYED_SITE: id,
    DEPLOYED_TOKEN: token,
    ...env,
  })
}

/**
 * What all functions of a data centre are told when they are deployed, and that there is a file which is too large for
 * the one that streams.
 */
const streamSettings = (target: Target, dataCentre: string) => ({
  ...storageSettings(target, dataCentre),
  WEB_FORMS_TABLE: outputOf(target.outputs, dataCentre, 'WebFormsTable'),
  CONTENT_TABLE: outputOf(target.outputs, dataCentre, 'ContentTable'),
  CATEGORY_LINKS_TABLE: outputOf(target.outputs, dataCentre, 'CategoryLinksTable'),
  DIRECTORY_REGION: target.region,
  LARGEST_FILE: String(largestStreamed),
})

const largestStreamed = 2_000_000

/** The cases of what comes to the function that streams. */
const streamedSuites = casesOf(['storage', 'http'])

/** Starts what stands in the place of the distribution of a data centre, and answers its address. */
const startDistribution = async (target: Target, dataCentre: string, bundle: string) => {
  const child = spawn(process.execPath, [join('test', 'deployed', 'distribution.ts'), bundle], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...emulatorEnvironment(target.emulator, target.region), ...streamSettings(target, dataCentre) },
  })
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')])
  if (typeof line !== 'string') throw new Error('The distribution has not started')
  const stop = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  return { url: line, stop }
}

/**
 * Streaming, from the very bundle that is deployed: the black-box cases of what comes to it, where it stands behind a
 * distribution, then large files to the process itself. (What goes elsewhere has been asked in `runAcceptance`.) The
 * data centre has that distribution's address meanwhile.
 */
export const runStreaming = async (target: Target, dataCentre: string): Promise<boolean> => {
  const bundle = mkdtempSync(join(tmpdir(), 'site-admin-stream-'))
  await bundleStream(bundle)
  const { url, stop } = await startDistribution(target, dataCentre, bundle)
  const move = (to: string) =>
    administer(target, 'data-centre', 'add', dataCentre, '--url', to, '--region', target.region)
  try {
    await move(url)
    const behind = { dataCentre, name: 'stream', url, suites: streamedSuites, largestFile: largestStreamed }
    const accepted = await acceptAt(target, behind)
    const streamed = await runOnDeployment(target, dataCentre, 'stream', { DEPLOYED_STREAM_BUNDLE: bundle })
    return accepted && streamed
  } finally {
    await move(outputOf(target.outputs, dataCentre, 'BaseUrl'))
    await stop()
    rmSync(bundle, { recursive: true, force: true })
  }
}

/** What only a deployed service has: the limits of its gateway and its functions, and the queue behind them. */
export const runEdge = (target: Target, dataCentre: string): Promise<boolean> =>
  runOnDeployment(target, dataCentre, 'edge', {})

/** A site that is moved to what is deployed, and back, as the guide says. */
export const runMoving = (target: Target, dataCentre: string): Promise<boolean> =>
  runOnDeployment(target, dataCentre, 'moving', {})

/** What functions are granted against what they have been seen to send. */
export const runGrants = (target: Target, dataCentre: string, recordings: string): Promise<boolean> =>
  runOnDeployment(target, dataCentre, 'grants', { DEPLOYED_RECORDINGS: recordings })

const storeOptions = ['--project', 'contract', `--testTimeout=${patience}`]

/** The contract suites of the stores, against tables and buckets of their own in the emulator. */
export const runStoreContracts = (target: Target): Promise<boolean> =>
  runSuite(target, 'stores', [...storeOptions, ...provableOn(target.emulator), ...storeSuites], {})

/** The cases of S3 that no other emulator can satisfy. */
export const runStoreRest = (target: Target): Promise<boolean> =>
  runSuite(target, 'stores', [...storeOptions, ...provableOnlyOn(target.emulator), ...storeSuites], {})
