import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DeleteObjectsCommand, ListObjectVersionsCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import type { DataCentreSettings, Settings } from './config/settings.ts'
import { runScript } from './run-script.ts'

const runFile = promisify(execFile)
const administration = [join('admin', 'main.js'), '--target', 'aws', '--json']

/** The host of `endpoint` is an IP address, so that S3 clients put bucket names into paths. */
export interface Emulator extends Pick<Settings, 'pathEncoding' | 'binaryAccept'> {
  readonly name: 'MiniStack' | 'LocalStack'
  readonly endpoint: string
}

type DataCentreRegions = Readonly<Record<string, Pick<DataCentreSettings, 'region'>>>

const account = '000000000000'
const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const real = ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_SECURITY_TOKEN', 'AWS_DEFAULT_PROFILE']

/** The environment in which AWS tools and `site-admin --target aws` use the emulator. */
export const emulatorEnvironment = ({ endpoint }: Pick<Emulator, 'endpoint'>, region: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !real.includes(name))),
  ...credentials,
  AWS_REGION: region,
  AWS_ENDPOINT_URL: endpoint,
  AWS_ENDPOINT_URL_S3: endpoint,
  CDK_DEFAULT_ACCOUNT: account,
})

/** Throws an Error unless an emulator answers. An emulator that is still starting may refuse the first request alone. */
export const findEmulator = async (endpoint: string): Promise<Emulator> => {
  const isAt = async (path: string) => (await fetch(`${endpoint}${path}`, { signal: AbortSignal.timeout(30_000) })).ok
  try {
    // MiniStack also answers at the path of LocalStack. It decodes the path before a function gets it. LocalStack
    // passes the path on unchanged, as AWS does.
    if (await isAt('/_ministack/health'))
      return { name: 'MiniStack', endpoint, pathEncoding: 'decoded', binaryAccept: 'any' }
    if (await isAt('/_localstack/health'))
      return { name: 'LocalStack', endpoint, pathEncoding: 'encoded', binaryAccept: 'named' }
  } catch {}
  throw new Error(`No emulator answers at ${endpoint}. Start one, or name its address in AWS_ENDPOINT_URL.`)
}

interface Deployment {
  readonly emulator: Emulator
  readonly dataCentres: DataCentreRegions
  readonly folder: string
}

export type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>

const prefix = 'SiteAdmin'

export const outputOf = (outputs: Outputs, stack: string, name: string): string => {
  const value = outputs[`${prefix}-${stack}`]?.[name]
  if (value === undefined) throw new Error(`The stack ${stack} has been deployed without the output ${name}`)
  return value
}

const contextOf = ({ emulator: { endpoint, pathEncoding, binaryAccept }, dataCentres }: Deployment): string =>
  JSON.stringify({
    prefix,
    dataCentres,
    defaultDataCentre: Object.keys(dataCentres)[0] ?? '',
    deletionProtection: false,
    replicateDirectory: false,
    webhooks: true,
    emulatorEndpoint: endpoint,
    pathEncoding,
    binaryAccept,
  } satisfies Partial<Settings>)

const regionsOf = ({ dataCentres }: Deployment) => [...new Set(Object.values(dataCentres).map(({ region }) => region))]

const environmentOf = (deployment: Deployment) =>
  emulatorEnvironment(deployment.emulator, regionsOf(deployment)[0] ?? '')

const cdk = async (deployment: Deployment, args: readonly string[]): Promise<void> => {
  const env = environmentOf(deployment)
  const child = spawn('cdk', [...args, '--no-notices'], { stdio: 'inherit', env })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`cdk ${args[0]} ended with status ${status}`)
}

const app = ({ folder }: Deployment) => ['--app', join(folder, 'cdk.out')]

const outputsFile = ({ folder }: Deployment) => join(folder, 'outputs.json')

export const synthesise = (deployment: Deployment): Promise<void> =>
  cdk(deployment, [
    ...['synth', '--quiet', '--output', join(deployment.folder, 'cdk.out')],
    ...['--context', `siteAdmin=${contextOf(deployment)}`],
  ])

/**
 * Registers the data centres that a deployment missed or registered under another address, because LocalStack without
 * an account does not run custom resources.
 */
const registerMissing = async (deployment: Deployment, outputs: Outputs): Promise<void> => {
  const env = environmentOf(deployment)
  const administer = async (...args: readonly string[]) =>
    JSON.parse((await runFile(process.execPath, [...administration, ...args], { env })).stdout)
  const registered: readonly { readonly id: string; readonly url: string }[] = await administer('data-centre', 'list')
  const notRun = 'The emulator has not run the resource that registers the data centre'
  for (const [id, { region }] of Object.entries(deployment.dataCentres)) {
    const url = outputOf(outputs, id, 'BaseUrl')
    if (registered.some((known) => known.id === id && known.url === url)) continue
    await administer('data-centre', 'add', id, '--url', url, '--region', region)
    console.warn(`${notRun} ${id}, so this script has registered it.`)
  }
}

export const deploy = async (deployment: Deployment): Promise<Outputs> => {
  const environments = regionsOf(deployment).map((region) => `aws://${account}/${region}`)
  const file = outputsFile(deployment)
  await cdk(deployment, ['bootstrap', ...environments, ...app(deployment)])
  await cdk(deployment, [
    ...['deploy', '--all', '--require-approval', 'never', '--outputs-file', file],
    ...['--concurrency', String(Object.keys(deployment.dataCentres).length)],
    ...app(deployment),
  ])
  const outputs: Outputs = JSON.parse(readFileSync(file, 'utf8'))
  await registerMissing(deployment, outputs)
  return outputs
}

const emptyBucket = async ({ endpoint }: Emulator, region: string, Bucket: string): Promise<void> => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = credentials
  const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey } })
  for (;;) {
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }))
    if (Objects.length === 0) return
    const { Errors: [refused] = [] } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    if (refused) throw new Error(`The bucket ${Bucket} cannot be emptied: ${refused.Message}`)
  }
}

/** An emulator that has been restarted has lost the buckets of its last deployment. */
const ignoreMissing = (error: unknown): void => {
  if (!(error instanceof S3ServiceException && error.name === 'NoSuchBucket')) throw error
}

/** Also deletes the files, because an emulator that behaves as AWS refuses to delete a bucket that has objects. */
export const destroy = async (deployment: Deployment): Promise<void> => {
  const file = outputsFile(deployment)
  const outputs: Outputs = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  for (const [id, { region }] of Object.entries(deployment.dataCentres)) {
    const bucket = outputs[`${prefix}-${id}`]?.['FilesBucket']
    if (bucket !== undefined) await emptyBucket(deployment.emulator, region, bucket).catch(ignoreMissing)
  }
  await cdk(deployment, ['destroy', '--all', '--force', ...app(deployment)])
}

const usage = `Usage: npm run deploy:local -- [--data-centres us:us-east-1,eu:eu-west-1] [--destroy]
Works on the emulator at AWS_ENDPOINT_URL (default http://127.0.0.1:4566).`

const options = {
  'data-centres': { type: 'string', default: 'us:us-east-1' },
  destroy: { type: 'boolean', default: false },
} as const

const parseDataCentres = (text: string): DataCentreRegions =>
  Object.fromEntries(
    text.split(',').map((dataCentre) => {
      const [id = '', region = ''] = dataCentre.split(':')
      return [id, { region }]
    }),
  )

if (import.meta.main) {
  process.exitCode = await runScript(usage, options, async (values) => {
    const { AWS_ENDPOINT_URL: endpoint = 'http://127.0.0.1:4566' } = process.env
    const emulator = await findEmulator(endpoint.replace(/\/+$/, ''))
    const dataCentres = parseDataCentres(values['data-centres'])
    const deployment = { emulator, dataCentres, folder: join('.cache', 'emulator') }
    await synthesise(deployment)
    if (values.destroy) {
      await destroy(deployment)
      return 0
    }
    const outputs = await deploy(deployment)
    for (const id of Object.keys(dataCentres)) console.log(outputOf(outputs, id, 'BaseUrl'))
    return 0
  })
}
