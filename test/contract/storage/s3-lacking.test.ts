import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createS3Clients } from '../../../lib/aws/s3/bucket.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { inMemory, noRemovals } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { createMemoryS3, type MemoryS3 } from '../../support/memory-s3.ts'
import { infoOf, nowhere, putObject, stageObject } from '../../support/objects.ts'
import { Refusal, type S3Request } from '../../support/s3-messages.ts'

/** A bucket in memory without a feature that LocalStack or MiniStack does not have. */
let s3: MemoryS3
let store: ObjectStore

beforeEach(() => {
  s3 = createMemoryS3()
  store = createS3ObjectStore({
    ...createS3Clients(inMemory(s3)),
    bucket: 'memory',
    removals: noRemovals,
    record: unrecorded,
  })
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(() => vi.restoreAllMocks())

const put = (key: string, text: string) => putObject(store, key, text)
const listed = (key: string) => infoOf(store, key)

describe('A store without conditional removals', () => {
  beforeEach(() => {
    s3.before = async ({ method, headers }) => {
      if (method === 'DELETE' && headers['if-match'] !== undefined) throw new Refusal(501, 'NotImplemented')
    }
  })

  it('Unchanged objects are removed, and the log names the missing feature once', async () => {
    for (const key of ['live/a', 'live/b']) {
      await put(key, key)
      await store.remove([await listed(key)], entry)
      expect(await store.find(key)).toBeUndefined()
    }
    expect(console.warn).toHaveBeenCalledTimes(1)
  })

  it('An object that was replaced after the listing is kept', async () => {
    await put('live/a', 'old')
    const old = await listed('live/a')
    await put('live/a', 'new')
    await store.remove([old], entry)
    expect(await listed('live/a')).toMatchObject({ size: 3, version: expect.not.stringMatching(old.version) })
  })

  it('A file can be moved', async () => {
    await put('live/a', 'text')
    const move = { kind: 'move', from: await listed('live/a'), key: 'live/b' } as const
    expect(await store.place([move], { ...nowhere, absent: ['live/b'] }, entry)).toEqual({ outcome: 'placed' })
    expect(await store.find('live/a')).toBeUndefined()
    expect((await listed('live/b')).size).toBe(4)
  })
})

describe('A store without conditional writes', () => {
  const replace = async (text: string, expected: string | undefined) => {
    const staged = await stageObject(store, 'live/a', text)
    const matching = [{ key: 'live/a', version: expected }]
    return store.place([{ kind: 'put', key: 'live/a', staged }], { ...nowhere, matching }, entry)
  }

  it('Each write first reads the version of the object', async () => {
    const { handle } = s3.requestHandler
    s3.requestHandler.handle = ({ headers: { 'if-match': _, 'if-none-match': __, ...headers }, ...request }, options) =>
      handle({ ...request, headers }, options)
    expect(await replace('first', undefined)).toEqual({ outcome: 'placed' })
    expect(await replace('second', undefined)).toEqual({ outcome: 'changed', key: 'live/a' })
    const { version } = await listed('live/a')
    expect(await replace('third', version)).toEqual({ outcome: 'placed' })
    expect(await replace('late', version)).toEqual({ outcome: 'changed', key: 'live/a' })
    expect((await listed('live/a')).size).toBe(5)
  })
})

describe('A store that compares encoded names', () => {
  const asQuery = (key: string) => key.split('/').map(encodeURIComponent).join('/')
  const isListing = ({ query = {} }: S3Request) => query['list-type'] !== undefined && query['encoding-type'] === 'url'

  /** Returns a listing with those entries of a whole listing whose encoded names follow the encoded `after`. */
  const showBehind = (xml: string, after: string, limit: number): string => {
    const all = [...xml.matchAll(/<Contents>.*?<\/Contents>/gs)].map(([entry]) => entry)
    const behind = all.filter((entry) => (/<Key>(.*?)<\/Key>/.exec(entry)?.[1] ?? '') > asQuery(after))
    const truncated = `<IsTruncated>${behind.length > limit}</IsTruncated>`
    return `<ListBucketResult>${truncated}${behind.slice(0, limit).join('')}</ListBucketResult>`
  }

  beforeEach(() => {
    const { handle } = s3.requestHandler
    s3.requestHandler.handle = async (request, options) => {
      const { 'start-after': after, 'max-keys': limit, ...query } = request.query ?? {}
      if (!isListing(request) || typeof after !== 'string') return handle(request, options)
      const { response } = await handle({ ...request, query }, options)
      const xml = Buffer.concat(await response.body.toArray()).toString()
      return { response: { ...response, body: Readable.from([showBehind(xml, after, Number(limit))]) } }
    }
  })

  it('All names are listed, page after page', async () => {
    const names = ['a', 'b', 'größe', 'ζ', 'ж', '日本', '😀'].map((name) => `live/${name}`)
    for (const name of names) await put(name, 'x')
    const found: string[] = []
    for (let after: string | undefined, turn = 0; turn === 0 || after !== undefined; turn++) {
      const page = await store.list({ prefix: 'live/', folded: false, limit: 2, after })
      found.push(...page.objects.map(({ key }) => key))
      after = page.next
      expect(turn).toBeLessThan(names.length)
    }
    expect(found).toEqual(names)
    expect(console.warn).toHaveBeenCalledTimes(1)
  })
})
