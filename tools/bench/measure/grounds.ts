import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Upload } from '@aws-sdk/lib-storage'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { readSettingsOf } from '../../../lib/config/config.ts'
import type { tables } from '../../../lib/config/tables.ts'
import { systemClock } from '../../../lib/core/time.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { type LocalStores, type Machine, openMachine } from '../../../lib/machine/machine.ts'
import { createStorageDeps } from '../../../lib/service/deps.ts'
import { createLinkTo } from '../../../local/downloads.ts'
import { openTestTables } from '../../../test/support/tables.ts'
import { bytes } from './content.ts'
import { mebibyte, type Table } from './figures.ts'

/** Runs `run` with an empty folder and removes the folder afterwards. */
export const inScratchFolder = async <Result>(run: (folder: string) => Promise<Result>): Promise<Result> => {
  const folder = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  try {
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Measures on an empty data directory with the defaults of `npm start`: every change is flushed, unless an option turns
 * this off.
 */
export const onMachine = <Result>(
  run: (machine: Machine) => Promise<Result>,
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<Result> =>
  inScratchFolder(async (folder) => {
    const machine = await openMachine(join(folder, 'data'), { role: 'service', durable })
    try {
      return await run(machine)
    } finally {
      await machine.close()
    }
  })

/** Measures on empty tables of dynalite, which reports consumed capacity. Its times are not comparable with AWS. */
export const onTables = async <Result>(run: (dynamodb: DynamoDBDocumentClient) => Promise<Result>): Promise<Result> => {
  const { connect, close } = await openTestTables()
  try {
    return await run(connect())
  } finally {
    await close()
  }
}

export const unlogged = { telemetry: { request: () => undefined } }

/** The operations on files of one machine, with the defaults of `npm start`, without sockets. */
export const storageOf = (stores: LocalStores): Handler => {
  const linkTo = createLinkTo(stores.linkSecret, systemClock)
  const settings = { dataCentre: 'us', ...readSettingsOf('machine', {}) }
  return createStorageHandler(createStorageDeps(settings, stores, { ...unlogged, linkTo }))
}

/** Runs a measurement that needs an emulator at `AWS_ENDPOINT_URL`. Without an emulator, prints that it is left out. */
export const atEndpoint = async (what: string, run: () => Promise<readonly Table[]>): Promise<readonly Table[]> => {
  if (process.env['AWS_ENDPOINT_URL']) return run()
  console.warn(`NO AWS_ENDPOINT_URL: ${what} SKIPPED.\n`)
  return []
}

export const pathLocksTable = 'pathLocks' satisfies keyof typeof tables
export const journalTable = 'journal' satisfies keyof typeof tables

/**
 * Opens the deployed file stores, with a bucket and a queue of their own at `AWS_ENDPOINT_URL` (an IP address), and the
 * tables of `dynamodb`. For these stores, all objects are older by `age` milliseconds.
 */
export const openCloudFiles = async (dynamodb: DynamoDBDocumentClient, age = 0) => {
  const client = new S3Client({ forcePathStyle: true })
  const bucket = `bench-${randomUUID()}`
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
  const queues = new SQSClient({})
  const { QueueUrl: removalsQueueUrl = '' } = await queues.send(new CreateQueueCommand({ QueueName: bucket }))
  const settings = { filesBucket: bucket, pathLocksTable, journalTable, keptDays: 30, removalsQueueUrl }
  const { downloads, linkTo, ...stores } = openFileStores(settings, { dynamodb, now: () => Date.now() + age })
  return { client, bucket, stores, downloads, linkTo }
}

export type CloudFiles = Awaited<ReturnType<typeof openCloudFiles>>

/** Sends bytes to the same bucket with the upload of the SDK. */
export const uploadByLibrary = ({ client, bucket }: CloudFiles, length: number) =>
  new Upload({
    client,
    params: { Bucket: bucket, Key: 'library', Body: Readable.from(bytes(length), { objectMode: false }) },
    partSize: 8 * mebibyte,
    queueSize: 4,
  }).done()
