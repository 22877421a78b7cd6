import { randomBytes, randomUUID } from 'node:crypto'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { createS3Clients, openBucket as openKnownBucket } from '../../lib/aws/s3/bucket.ts'
import { createS3ObjectStore } from '../../lib/aws/s3/s3-object-store.ts'
import { unrecorded } from './history.ts'
import { createMemoryS3, type MemoryS3 } from './memory-s3.ts'
import { lighten } from './without-network.ts'

type Removals = Parameters<typeof createS3ObjectStore>[0]['removals']

export const noRemovals: Removals = {
  locksOf: async () => ({ open: [], ids: new Set() }),
  begin: async (removal) => removal,
  note: async () => {},
  cancel: async () => {},
}

/** While `isLocked` is true, each look finds a lock that has begun and ended since the look before. */
export const removalsWhile = (isLocked: () => boolean): Removals => ({
  ...noRemovals,
  locksOf: async () => ({ open: [], ids: new Set(isLocked() ? [randomUUID()] : []) }),
})

const openBucket = (bucket: string, config: S3ClientConfig) => {
  const connect = (maxAttempts = 3) => {
    const client = new S3Client({ forcePathStyle: true, ...config, maxAttempts })
    return config.requestHandler ? lighten(client, bucket, { hasChecksums: true }) : client
  }
  return {
    bucket,
    /** A new client, which the test may change. It sends each call at most `maxAttempts` times. */
    connect,
    async leftovers() {
      const client = connect()
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'scratch/' }))
      return Uploads.length + Contents.length
    },
  }
}

export type TestBucket = ReturnType<typeof openBucket>

const inMemory = ({ requestHandler }: Pick<MemoryS3, 'requestHandler'>): S3ClientConfig => ({
  // HTTPS, as on AWS: over plain HTTP the client would also sign each body.
  endpoint: 'https://s3.test',
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  forcePathStyle: true,
  requestHandler,
  signer: { sign: async (request) => request },
  retryMode: 'standard',
})

export const openBucketInMemory = (options: Parameters<typeof createMemoryS3>[0] = {}) => {
  const s3 = createMemoryS3({ needsChecksums: true, ...options })
  return { ...openBucket('memory', inMemory(s3)), s3 }
}

/** Clients of a bucket in memory, with the settings of the service. */
export const createFastClients = (
  bucket: string,
  s3: Pick<MemoryS3, 'requestHandler'>,
  { hasChecksums = true, ...config }: S3ClientConfig & { readonly hasChecksums?: boolean } = {},
) => {
  const { client, once } = createS3Clients({ ...inMemory(s3), ...config })
  return { client: lighten(client, bucket, { hasChecksums }), once: lighten(once, bucket, { hasChecksums }) }
}

/** A bucket in memory, or with `AWS_ENDPOINT_URL` a bucket of that S3 service. */
export const openTestBucket = async (): Promise<TestBucket> => {
  if (!process.env['AWS_ENDPOINT_URL']) return openBucketInMemory()
  const opened = openBucket(`test-${randomBytes(6).toString('hex')}`, {})
  const client = opened.connect()
  await client.send(new CreateBucketCommand({ Bucket: opened.bucket }))
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await client.send(new PutBucketVersioningCommand({ Bucket: opened.bucket, VersioningConfiguration }))
  return opened
}

export type StoreOptions = Partial<
  Omit<Parameters<typeof createS3ObjectStore>[0], 'bucket'> & Omit<Parameters<typeof openKnownBucket>[0], 'name'>
>

export const openObjectStore = (
  { bucket, connect }: Pick<TestBucket, 'bucket' | 'connect'>,
  { client = connect(), once = connect(1), largestCopy, ...options }: StoreOptions = {},
) => {
  const opened = openKnownBucket({ client, once, name: bucket, largestCopy })
  return createS3ObjectStore({ bucket: opened, removals: noRemovals, record: unrecorded, ...options })
}
