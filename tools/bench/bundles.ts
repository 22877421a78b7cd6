import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundleEntry, type FunctionName, functionEntry, functionNames } from '../../cdk/config/functions.ts'
import { atMost, type Bench, inTurns, seconds, type Table } from './measure/figures.ts'
import { inScratchFolder } from './measure/grounds.ts'

const project = join(import.meta.dirname, '..', '..')
const runs = 41
const targets = { size: 1.5, load: 1.3 }

// The environment that every function needs to start. Loading a bundle calls no service.
const environment = {
  PATH: process.env['PATH'],
  AWS_REGION: 'us-east-1',
  DATA_CENTRE: 'us',
  DATA_CENTRES: 'us',
  SITES_TABLE: 'sites',
  TOKENS_TABLE: 'tokens',
  USERS_TABLE: 'users',
  SIGN_INS_TABLE: 'sign-ins',
  CLIENT_SECRETS_PARAMETER: '/SiteAdmin/client-secrets',
  JOURNAL_TABLE: 'journal',
  WEB_FORMS_TABLE: 'web-forms',
  CONTENT_TABLE: 'content',
  CATEGORY_LINKS_TABLE: 'category-links',
  PATH_LOCKS_TABLE: 'path-locks',
  UPLOADS_TABLE: 'uploads',
  FILES_BUCKET: 'files',
  REMOVALS_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/123456789012/removals',
  WEBHOOKS_TABLE: 'webhooks',
  WEBHOOKS_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/123456789012/webhooks',
  WEBHOOKS_KEY: 'alias/site-admin-webhooks',
}

const run = promisify(execFile)

/**
 * The milliseconds of processor time that a fresh process needs to import the bundle, without the start of Node. Other
 * load changes this time less than the time that passes.
 */
const loadOnce = async (folder: string): Promise<number> => {
  const url = pathToFileURL(join(folder, 'index.mjs')).href
  const load = `const before = process.cpuUsage(); await import('${url}'); const used = process.cpuUsage(before)`
  const script = `${load}; console.log((used.user + used.system) / 1000); process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env: environment })
  return Number(stdout)
}

// Counts code only. Files that a function serves, such as the OpenAPI document, are not loaded.
const bundle = async (entry: string, folder: string) => {
  const { outputs } = await bundleEntry(entry, folder)
  const code = Object.entries(outputs).filter(([file]) => file.endsWith('.mjs'))
  return { folder, bytes: code.reduce((sum, [, { bytes }]) => sum + bytes, 0) }
}

// For each function, the commands and the clients of the SDK that the function uses.
const tables = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
  import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
  export const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}))
  export { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
  export { GetCommand, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb'`
const changes = `${tables}
  export { DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'`
const files = `${changes}
  import { S3Client } from '@aws-sdk/client-s3'
  import { SQSClient } from '@aws-sdk/client-sqs'
  export const files = new S3Client({})
  export const queue = new SQSClient({})
  export { BatchGetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb'
  export { AbortMultipartUploadCommand, CompleteMultipartUploadCommand, CopyObjectCommand } from '@aws-sdk/client-s3'
  export { CreateMultipartUploadCommand, DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
  export { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
  export { ListObjectVersionsCommand, PutObjectCommand, UploadPartCommand, UploadPartCopyCommand } from '@aws-sdk/client-s3'
  export { SendMessageCommand } from '@aws-sdk/client-sqs'
  export { getSignedUrl } from '@aws-sdk/s3-request-presigner'`

const clients: Readonly<Record<FunctionName, string>> = {
  access: `${changes}; export { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
    export { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm'`,
  documentation: tables,
  fields: `${changes}; export { paginateQuery } from '@aws-sdk/lib-dynamodb'`,
  categories: `${changes}; export { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb'`,
  storage: files,
  removals: files,
  webhooks: `${changes}; export { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
    import { KMSClient } from '@aws-sdk/client-kms'
    import { SQSClient } from '@aws-sdk/client-sqs'
    export const keys = new KMSClient({})
    export const queue = new SQSClient({})
    export { DecryptCommand, EncryptCommand } from '@aws-sdk/client-kms'
    export { SendMessageCommand } from '@aws-sdk/client-sqs'`,
}

/** Compares a bundle with its SDK clients alone, in size and load time, which are the cost of a cold start. */
const measureBundle = async (name: FunctionName, folder: string): Promise<Table> => {
  // The entry is below the project, so that the bundler finds the packages.
  const entry = join(project, '.cache', 'bench', `${name}-clients.mjs`)
  mkdirSync(dirname(entry), { recursive: true })
  writeFileSync(entry, clients[name])
  const own = await bundle(functionEntry(name), join(folder, name, 'own'))
  const sdk = await bundle(entry, join(folder, name, 'sdk'))
  const load = await inTurns(runs, { own: () => loadOnce(own.folder), sdk: () => loadOnce(sdk.folder) })
  const compare = (figure: string, ownValue: number, sdkValue: number, target: number) => {
    const ratio = ownValue / sdkValue
    return [figure, ownValue.toFixed(1), sdkValue.toFixed(1), ratio.toFixed(2), ...atMost(ratio, target)]
  }
  return {
    title: `The bundle of the ${name} function, compared with its SDK clients alone (load: median of ${runs})`,
    columns: ['figure', 'function', 'SDK clients', 'ratio', 'target', 'verdict'],
    rows: [
      compare('size, KiB', own.bytes / 1024, sdk.bytes / 1024, targets.size),
      compare('load, ms', load.own, load.sdk, targets.load),
    ],
  }
}

const longestSynth = 30

/** In seconds, for all templates and bundles of the app, with its checks. */
const measureSynth = async (folder: string): Promise<Table> => {
  const synth = ['synth', '--quiet', '--no-notices', '--output', join(folder, 'cdk.out')]
  const taken = await seconds(() => run('cdk', synth))
  return {
    title: 'cdk synth, s',
    columns: ['synth', 'target', 'verdict'],
    rows: [[taken.toFixed(1), ...atMost(taken, longestSynth)]],
  }
}

export const bundles: Bench = () =>
  inScratchFolder(async (folder) => {
    const tables: Table[] = []
    for (const name of functionNames) tables.push(await measureBundle(name, folder))
    return [...tables, await measureSynth(folder)]
  })
