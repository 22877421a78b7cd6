import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { CloudFormation, waitUntilStackCreateComplete } from '@aws-sdk/client-cloudformation'
import { bundleFunction } from '../../cdk/config/functions.ts'
import { type Emulator, emulatorEnvironment, type Outputs, outputOf } from '../../cdk/deploy-local.ts'
import { areas } from '../../lib/core/rights.ts'

const administration = [process.execPath, join('admin', 'main.js'), '--target', 'aws', '--json'] as const

/** The suites of test/contract that use buckets of the emulator. `npm test` runs all others. */
const storeSuites = [join('test', 'contract', 'storage', 's3-object-store')]

/** Cases that an emulator cannot pass, by parts of their names, with the reason. They are reported as skipped. */
const beyond: Readonly<Record<Emulator['name'], Readonly<Record<string, string>>>> = {
  MiniStack: {
    'range .* is answered with 206': 'it ignores the range of a read that names a version',
    'range with If-Range is returned': 'it ignores the range of a read that names a version',
    'A read returns the chosen bytes': 'it ignores the range of a read that names a version',
    'A range can be read through a link': 'it ignores the range of a read that names a version',
    'A range of an old version can be read': 'it ignores the range of a read that names a version',
    'A link returns the file as an attachment': 'it ignores the response headers of a signed URL',
    'A link without its signature': 'it answers an unsigned read with 400',
    'an encoded slash': 'it decodes the path',
    '100 attempts at once are limited': 'it starts a process for each request, and their calls end too late',
  },
  LocalStack: {
    'accepts form data in every spelling': 'it drops forms except in POST, PUT and PATCH',
    'A body of type application/x-www-form-urlencoded is read':
      'it rewrites forms so that their bodies are not forms any more',
    'type multipart/form-data; boundary=x is refused with 415': 'it refuses malformed multipart bodies itself',
    'A body that is not multipart': 'it refuses malformed multipart bodies itself',
    'A form with .* is refused with 104000': 'it refuses malformed multipart bodies itself',
    'with a nameless part that is declared as bytes': 'it rewrites multipart bodies without these parts',
    'A name that is not UTF-8': 'it rewrites multipart bodies with names in UTF-8',
    'A file name starts after its last slash or backslash': 'it rewrites multipart bodies without backslashes',
    'a browser executes nothing in a file': 'it removes the type and the time from an answer of 304',
    'several concurrent changes with a condition': 'it ignores conditions of a removal',
    'A link without its signature': 'it allows anonymous reads',
    'a digest that is not signed': 'it checks no signatures',
    'bytes in (gzip|Brotli|two codings)': 'it decodes the bytes itself',
    'of an encoded form': 'it decodes the bytes itself',
    'An append with Content-Encoding': 'it decodes the bytes itself',
    'refuses a compressed body': 'it decodes the bytes itself',
    'A refusal hides whether': 'all callers have the same address, so attempts of other cases count',
    '100 attempts at once are limited': 'it starts a process for each request, and their calls end too late',
    'A list of removed entries': 'it compares encoded keys with the decoded key after which it continues',
  },
}

/** Files that an emulator cannot pass. The functions of LocalStack cannot reach an issuer on this machine. */
const filesBeyond: Readonly<Record<Emulator['name'], readonly string[]>> = {
  MiniStack: [],
  LocalStack: ['**/access/exchange.test.ts', '**/access/external-sign-in.test.ts'],
}

/** In milliseconds. Cold starts of concurrent requests run one after the other, which takes time on a small machine. */
const patience = 180_000

/** Cases that a streaming function cannot pass, because Lambda removes the header. */
const beyondStreaming = ['X-HTTP-Method-Override is accepted only for uploads']

const provableOn = ({ name }: Emulator, others: readonly string[] = []): readonly string[] => [
  '--testNamePattern',
  `^(?!.*(${[...Object.keys(beyond[name]), ...others].join('|')}))`,
  ...filesBeyond[name].flatMap((file) => ['--exclude', file]),
]

/** The cases that only this emulator can pass. */
const provableOnlyOn = ({ name }: Emulator): readonly string[] => {
  const others = Object.entries(beyond).flatMap(([other, names]) => (other === name ? [] : Object.keys(names)))
  return ['--testNamePattern', others.filter((each) => !(each in beyond[name])).join('|')]
}

export interface Target {
  readonly emulator: Emulator
  readonly outputs: Outputs
  readonly region: string
  readonly reports: string
}

const runFile = promisify(execFile)

const administer = async ({ emulator, region }: Target, ...args: readonly string[]) => {
  const [node, ...command] = administration
  const env = emulatorEnvironment(emulator, region)
  const { stdout } = await runFile(node, [...command, ...args], { env })
  return JSON.parse(stdout)
}

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

const createSite = async (target: Target, dataCentre: string, rights: readonly string[] = []) => {
  const { id } = await administer(target, 'site', 'create', '--name', 'Tests', '--data-centre', dataCentre)
  const granted = ['--user', 'tests', '--site', String(id), '--permission', 'files']
  const { token } = await administer(target, 'token', 'issue', ...granted, ...rights)
  return { id: String(id), token: String(token) }
}

interface Acceptance {
  readonly dataCentre: string
  readonly name?: string
  readonly url: string
  readonly suites?: readonly string[]
  readonly cases?: readonly string[]
  readonly largestFile?: number
}

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

const casesOf = (paths: readonly string[]): readonly string[] => paths.map((path) => join('test', 'acceptance', path))

/**
 * The cases that depend on the gateway, on the parts that a deployment connects, or on the tables, the bucket and the
 * queue of the emulator. `npm test` runs the other cases on the code of the functions.
 */
export const gatewaySuites = [
  'http',
  'fields/change',
  'categories/list',
  ...['access', 'download-link', 'purge', 'read', 'restore', 'resumable.test'].map((file) => `storage/${file}`),
]

export const runAcceptance = (target: Target, dataCentre: string, suites: readonly string[] = []): Promise<boolean> =>
  acceptAt(target, { dataCentre, url: outputOf(target.outputs, dataCentre, 'BaseUrl'), suites: casesOf(suites) })

/** Runs the acceptance cases that only this emulator can pass. */
export const runAcceptanceRest = (target: Target, dataCentre: string): Promise<boolean> => {
  const url = outputOf(target.outputs, dataCentre, 'BaseUrl')
  return acceptAt(target, { dataCentre, name: 'rest', url, cases: provableOnlyOn(target.emulator) })
}

/** The deployed settings of the storage functions, so that their entries also run in a test. */
const storageSettings = (target: Target, dataCentre: string) => ({
  DATA_CENTRE: dataCentre,
  SITES_TABLE: outputOf(target.outputs, 'directory', 'SitesTable'),
  TOKENS_TABLE: outputOf(target.outputs, 'directory', 'TokensTable'),
  USERS_TABLE: outputOf(target.outputs, 'directory', 'UsersTable'),
  JOURNAL_TABLE: outputOf(target.outputs, dataCentre, 'JournalTable'),
  PATH_LOCKS_TABLE: outputOf(target.outputs, dataCentre, 'PathLocksTable'),
  UPLOADS_TABLE: outputOf(target.outputs, dataCentre, 'UploadsTable'),
  FILES_BUCKET: outputOf(target.outputs, dataCentre, 'FilesBucket'),
  REMOVALS_QUEUE_URL: outputOf(target.outputs, dataCentre, 'RemovalsQueue'),
})

const runOnDeployment = async (target: Target, dataCentre: string, name: string, env: NodeJS.ProcessEnv) => {
  const rights = areas.flatMap((area) => ['--right', `${area}:write`])
  const { id, token } = await createSite(target, dataCentre, rights)
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

/** The deployed settings of all functions of a data centre, and a smaller limit for files of the streaming function. */
const streamSettings = (target: Target, dataCentre: string) => ({
  ...storageSettings(target, dataCentre),
  WEB_FORMS_TABLE: outputOf(target.outputs, dataCentre, 'WebFormsTable'),
  CONTENT_TABLE: outputOf(target.outputs, dataCentre, 'ContentTable'),
  CATEGORY_LINKS_TABLE: outputOf(target.outputs, dataCentre, 'CategoryLinksTable'),
  SIGN_INS_TABLE: outputOf(target.outputs, dataCentre, 'SignInsTable'),
  DIRECTORY_REGION: target.region,
  LARGEST_FILE: String(largestStreamed),
})

const largestStreamed = 2_000_000

/** The acceptance cases for requests that reach the streaming function. */
const streamedSuites = ['http/access', 'http/headers', 'storage/raw-upload', 'storage/read', 'storage/upload']
const allStreamedSuites = ['storage', 'http']

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
 * Tests streaming with the deployed bundle. First the acceptance cases of streamed requests run behind a distribution.
 * Then large files are sent directly to the process. (`runAcceptance` covers all other requests.) Meanwhile, the data
 * centre has the address of the distribution.
 */
export const runStreaming = async (target: Target, dataCentre: string, all: boolean): Promise<boolean> => {
  const bundle = mkdtempSync(join(tmpdir(), 'site-admin-stream-'))
  await bundleFunction('stream', bundle)
  const { url, stop } = await startDistribution(target, dataCentre, bundle)
  const move = (to: string) =>
    administer(target, 'data-centre', 'add', dataCentre, '--url', to, '--region', target.region)
  try {
    await move(url)
    const cases = provableOn(target.emulator, beyondStreaming)
    const suites = casesOf(all ? allStreamedSuites : streamedSuites)
    const behind = { dataCentre, name: 'stream', url, suites, cases, largestFile: largestStreamed }
    const accepted = await acceptAt(target, behind)
    const streamed = await runOnDeployment(target, dataCentre, 'stream', { DEPLOYED_STREAM_BUNDLE: bundle })
    return accepted && streamed
  } finally {
    await move(outputOf(target.outputs, dataCentre, 'BaseUrl'))
    await stop()
    rmSync(bundle, { recursive: true, force: true })
  }
}

/** Tests features that only a deployment has: the limits of its gateway and functions, and the queue. */
export const runEdge = (target: Target, dataCentre: string): Promise<boolean> =>
  runOnDeployment(target, dataCentre, 'edge', {})

/** The environment of an administrator with the two policies of the guide and no other permissions. */
const administratorOf = async ({ emulator, region, outputs }: Target, dataCentre: string, folder: string) => {
  const root = { accessKeyId: 'test', secretAccessKey: 'test' }
  const stacks = new CloudFormation({ endpoint: emulator.endpoint, region, credentials: root })
  const StackName = 'Administrators'
  const trusted = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: '000000000000' } }
  const Properties = {
    RoleName: StackName,
    AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trusted] },
    ManagedPolicyArns: ['directory', dataCentre].map((stack) => outputOf(outputs, stack, 'AdministrationPolicy')),
  }
  await stacks.createStack({
    StackName,
    Capabilities: ['CAPABILITY_NAMED_IAM'],
    TemplateBody: JSON.stringify({ Resources: { Role: { Type: 'AWS::IAM::Role', Properties } } }),
  })
  await waitUntilStackCreateComplete({ client: stacks, maxWaitTime: 60 }, { StackName })
  const file = join(folder, 'aws-config')
  const keys = `aws_access_key_id=${root.accessKeyId}\naws_secret_access_key=${root.secretAccessKey}`
  const role = `role_arn=arn:aws:iam::000000000000:role/${StackName}\nsource_profile=root`
  writeFileSync(file, `[profile root]\n${keys}\n[profile administrator]\n${role}\n`)
  const others = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }
  return { ...others, AWS_CONFIG_FILE: file, AWS_PROFILE: 'administrator' }
}

/** Moves a site to the deployment and back, as the guide describes, as an administrator. */
export const runMoving = async (target: Target, dataCentre: string, folder: string): Promise<boolean> =>
  runOnDeployment(target, dataCentre, 'moving', await administratorOf(target, dataCentre, folder))

export const runGrants = (target: Target, dataCentre: string, recordings: string): Promise<boolean> =>
  runOnDeployment(target, dataCentre, 'grants', { DEPLOYED_RECORDINGS: recordings })

const storeOptions = ['--project', 'contract', `--testTimeout=${patience}`]

/** Thousands of requests, which `npm test` sends to the model of S3. */
const longStoreCases = ['A folder of any size']

export const runStoreContracts = (target: Target): Promise<boolean> =>
  runSuite(target, 'stores', [...storeOptions, ...provableOn(target.emulator, longStoreCases), ...storeSuites], {})

/** Runs the S3 cases that only this emulator can pass. */
export const runStoreRest = (target: Target): Promise<boolean> =>
  runSuite(target, 'stores', [...storeOptions, ...provableOnlyOn(target.emulator), ...storeSuites], {})
