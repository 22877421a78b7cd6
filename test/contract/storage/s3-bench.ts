import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { openBucket } from '../../../lib/aws/s3/bucket.ts'
import { createUploadParts } from '../../../lib/aws/s3/upload-parts.ts'
import type { Change, PlaceConditions } from '../../../lib/storage/object-store.ts'
import { createFastClients, openObjectStore, type StoreOptions } from '../../support/bucket.ts'
import { createGate } from '../../support/gate.ts'
import { entry } from '../../support/history.ts'
import { createMemoryS3, type MemoryS3 } from '../../support/memory-s3.ts'
import { infoOf, nowhere, putObject, recorded } from '../../support/objects.ts'
import type { S3Request } from '../../support/s3-messages.ts'

export type Matcher = (request: S3Request) => boolean

export const isCopy: Matcher = ({ headers }) => headers['x-amz-copy-source'] !== undefined
export const isPut: Matcher = (request) => request.method === 'PUT' && !isCopy(request)
export const isCompletion: Matcher = ({ method, query = {} }) => method === 'POST' && query['uploadId'] !== undefined
export const isBatch: Matcher = ({ query = {} }) => query['delete'] !== undefined
/** Not of a version, an upload or tags. */
export const isRemoval: Matcher = ({ method, query = {} }) =>
  method === 'DELETE' && Object.keys(query).every((name) => name === 'x-id')
export const isRemovalOf =
  (key: string): Matcher =>
  (request) =>
    isRemoval(request) && request.path.endsWith(`/${key}`)
export const isListing: Matcher = ({ method, query = {} }) =>
  method === 'GET' && (query['versions'] !== undefined || query['list-type'] !== undefined)

export const brokenConnection = () => Object.assign(new Error('The connection broke'), { code: 'ECONNRESET' })

/** Runs the work of another caller once, right before the first matching request is answered. */
export const atFirst = (s3: MemoryS3, isMeant: Matcher, work: (request: S3Request) => Promise<unknown>): void => {
  s3.before = async (request) => {
    if (!isMeant(request)) return
    s3.before = async () => undefined
    await work(request)
  }
}

/** Holds the first matching request until the gate opens. */
export const holdAt = (s3: MemoryS3, isMeant: Matcher) => {
  const gate = createGate()
  atFirst(s3, isMeant, gate.pass)
  return gate
}

/** Receives all bytes of a resumable upload. Returns a function that places them, also several times. */
export const receiveUpload = async (
  store: ReturnType<typeof openObjectStore>,
  clients: ReturnType<typeof createFastClients>,
  path: string,
  bytes: Buffer,
) => {
  const parts = createUploadParts({ bucket: openBucket({ ...clients, name: 'memory' }), adopt: store.adopt })
  const target = { path, asDraft: false, key: `live/${path}`, contentType: 'text/plain' }
  const holding = await parts.begin(target)
  const begun = { id: randomUUID(), target, created: Date.now(), length: bytes.length, holding }
  const appended = await parts.append(begun, 0, Readable.from([bytes]), { size: 0, holding }, () => false)
  const whole = { ...begun, holding: appended.holding }
  return async (conditions: Partial<PlaceConditions> = {}) => {
    const moved = await parts.takeOver(whole)
    if (!moved) return undefined
    const staged = await parts.whole({ ...whole, holding: moved })
    const change: Change = { kind: 'put', key: target.key, staged }
    return recorded(store.place([change], { ...nowhere, ...conditions }, entry)).finally(staged.discard)
  }
}

/** A store with the deployed clients, over a bucket in memory. Tests watch, delay and refuse requests to the bucket. */
export const openS3Bench = (options: StoreOptions = {}) => {
  const s3 = createMemoryS3()
  const bucket = 'memory'
  const clients = createFastClients(bucket, s3)
  /** Another store over the same bucket. */
  const open = (more: StoreOptions = {}) =>
    openObjectStore({ bucket, connect: () => clients.client }, { ...clients, ...options, ...more })
  const store = open()
  const meanwhile = (isMeant: Matcher, work: Parameters<typeof atFirst>[2]) => atFirst(s3, isMeant, work)
  return {
    s3,
    clients,
    bucket,
    open,
    store,
    put: (key: string, content?: string | Buffer) => putObject(store, key, content),
    listed: (key: string) => infoOf(store, key),
    keys: async () => (await store.list({ prefix: 'live/', folded: false, limit: 1000 })).objects.map(({ key }) => key),
    place: (changes: readonly Change[], conditions: Partial<PlaceConditions> = {}) =>
      recorded(store.place(changes, { ...nowhere, ...conditions }, entry)),
    async remove(...keys: readonly string[]) {
      await store.remove(await Promise.all(keys.map((key) => infoOf(store, key))), { entry })
    },
    meanwhile,
    /** S3 carries out the first matching request, and the connection breaks. */
    loseAnswer: (isMeant: Matcher): void =>
      meanwhile(isMeant, async (request) => {
        await s3.requestHandler.handle(request)
        throw brokenConnection()
      }),
    /** Lets the first matching requests fail. `seen` counts all matching requests. */
    failing(isMeant: Matcher, times: number, fail: () => Error) {
      const count = { seen: 0 }
      s3.before = async (request) => {
        if (!isMeant(request)) return
        count.seen += 1
        if (count.seen <= times) throw fail()
      }
      return count
    },
    /** The requests that `work` sends. */
    async requestsOf(work: () => Promise<unknown>): Promise<readonly S3Request[]> {
      const before = s3.requests.length
      await work()
      return s3.requests.slice(before)
    },
  }
}

export type S3Bench = ReturnType<typeof openS3Bench>
