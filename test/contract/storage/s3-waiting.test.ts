import { createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { HeadObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { timeouts } from '../../../lib/aws/calls/client-calls.ts'
import { createS3Clients } from '../../../lib/aws/s3/bucket.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { noRemovals } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { listen } from '../../support/listen.ts'
import { putObject } from '../../support/objects.ts'

/** A store over a socket that accepts connections and never answers. */
let store: ObjectStore
let endpoint: string
const silent = createServer((socket) => socket.on('error', () => {}).resume())
const connect = (config: object = {}) => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  return createS3Clients({ endpoint, region: 'local', credentials, ...config })
}

beforeAll(async () => {
  endpoint = await listen(silent)
  const clients = connect({ requestHandler: timeouts({ requestTimeout: 50 }) })
  store = createS3ObjectStore({ ...clients, bucket: 'silent', removals: noRemovals, record: unrecorded })
})
afterAll(() => void silent.close())

describe('An S3 that accepts connections and never answers', () => {
  it.each([
    ['a look', () => store.find('a')],
    ['a listing', () => store.list({ prefix: 'a/', folded: true, limit: 10 })],
    ['a read', () => store.read('a', () => ({ first: 0, last: 0 }))],
    ['a removal', () => store.remove([{ key: 'a', version: 'b', size: 1 }], entry)],
    ['a placement', () => putObject(store, 'a')],
  ])('A call to %s ends with 503', async (_, call) => {
    await expect(call()).rejects.toMatchObject({ code: 100503 })
  })

  it('The deployed client gives up before its function ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { client } = connect()
    let isOver = false
    const asking = client.send(new HeadObjectCommand({ Bucket: 'silent', Key: 'a' })).finally(() => {
      isOver = true
    })
    asking.catch(() => {})
    let elapsed = 0
    for (; !isOver; elapsed += 100) {
      await turn()
      await vi.advanceTimersByTimeAsync(100)
    }
    vi.useRealTimers()
    await expect(asking).rejects.toMatchObject({ code: 100503 })
    expect(elapsed).toBeLessThan(27_500)
  })
})
