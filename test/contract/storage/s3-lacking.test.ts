import { Readable } from 'node:stream'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Change } from '../../../lib/storage/object-store.ts'
import { removalsWhile } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import { stageObject } from '../../support/objects.ts'
import { Refusal, type S3Answer, type S3Request } from '../../support/s3-messages.ts'
import { tag } from '../../support/s3-xml.ts'
import { openS3Bench, type S3Bench } from './s3-bench.ts'

// A bucket in memory without a feature that LocalStack, MiniStack or a new bucket does not have.
let bench: S3Bench
let isLockedSince: boolean

beforeEach(() => {
  isLockedSince = false
  bench = openS3Bench({ removals: removalsWhile(() => isLockedSince) })
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})

type Handle = (request: S3Request) => Promise<{ response: S3Answer }>

/** Changes the requests that the bucket receives, or its answers. */
const wrapBucket = (wrap: (request: S3Request, handle: Handle) => ReturnType<Handle>): void => {
  const { requestHandler } = bench.s3
  const { handle } = requestHandler
  requestHandler.handle = (request, options) => wrap(request, (changed) => handle(changed, options))
}

describe('A store without conditional removals', () => {
  beforeEach(() => {
    bench.s3.before = async ({ method, headers }) => {
      if (method === 'DELETE' && headers['if-match'] !== undefined) throw new Refusal(501, 'NotImplemented')
    }
  })

  it('Unchanged objects are removed, and the log names the missing feature once', async () => {
    for (const key of ['live/a', 'live/b']) {
      await bench.put(key)
      await bench.remove(key)
      expect(await bench.keys()).toEqual([])
    }
    expect(console.warn).toHaveBeenCalledTimes(1)
  })

  it('An object that was replaced after the listing is kept', async () => {
    await bench.put('live/a', 'old')
    const old = await bench.listed('live/a')
    await bench.put('live/a', 'newer')
    await bench.store.remove([old], { entry })
    expect((await bench.listed('live/a')).size).toBe(5)
  })

  it('A file can be moved', async () => {
    await bench.put('live/a')
    const move: Change = { kind: 'move', from: await bench.listed('live/a'), key: 'live/b' }
    expect(await bench.place([move], { absent: ['live/b'] })).toEqual({ outcome: 'placed' })
    expect(await bench.keys()).toEqual(['live/b'])
  })
})

it('If S3 answers a page without objects, a listing continues until it has objects', async () => {
  for (const key of ['live/a/1', 'live/b']) await bench.put(key)
  wrapBucket(async ({ query = {}, ...request }, handle) => {
    const { 'continuation-token': token, ...rest } = query
    const isFirst = query['list-type'] !== undefined && token === undefined
    const { response } = await handle({ ...request, query: rest })
    if (!isFirst) return { response }
    const empty = tag('IsTruncated', 'true') + tag('NextContinuationToken', 'next')
    return { response: { ...response, body: Readable.from([`<ListBucketResult>${empty}</ListBucketResult>`]) } }
  })
  expect(await bench.store.exists('live/a/')).toBe(true)
  expect(await bench.keys()).toEqual(['live/a/1', 'live/b'])
  const listing = await bench.store.list({ prefix: 'live/', folded: true, limit: 1 })
  expect(listing).toMatchObject({ objects: [], folders: ['live/a/'], next: 'live/a/' })
})

it('Without conditional writes, each write first reads the version of the object', async () => {
  wrapBucket(({ headers: { 'if-match': _, 'if-none-match': __, ...headers }, ...request }, handle) =>
    handle({ ...request, headers }),
  )
  const replace = async (text: string, version: string | undefined) => {
    const staged = await stageObject(bench.store, 'live/a', text)
    return bench.place([{ kind: 'put', key: 'live/a', staged }], { matching: [{ key: 'live/a', version }] })
  }
  expect(await replace('first', undefined)).toEqual({ outcome: 'placed' })
  expect(await replace('second', undefined)).toEqual({ outcome: 'changed', key: 'live/a' })
  const { version } = await bench.listed('live/a')
  expect(await replace('third', version)).toEqual({ outcome: 'placed' })
  expect(await replace('late', version)).toEqual({ outcome: 'changed', key: 'live/a' })
  expect((await bench.listed('live/a')).size).toBe(5)
})

const asQuery = (key: string) => key.split('/').map(encodeURIComponent).join('/')

/** Returns a listing with those entries of a whole listing whose encoded names follow the encoded `after`. */
const showBehind = (xml: string, after: string, limit: number): string => {
  const all = [...xml.matchAll(/<Contents>.*?<\/Contents>/gs)].map(([entry]) => entry)
  const behind = all.filter((entry) => (/<Key>(.*?)<\/Key>/.exec(entry)?.[1] ?? '') > asQuery(after))
  const truncated = `<IsTruncated>${behind.length > limit}</IsTruncated>`
  return `<ListBucketResult>${truncated}${behind.slice(0, limit).join('')}</ListBucketResult>`
}

it('A store that compares encoded names lists all names, page after page', async () => {
  wrapBucket(async (request, handle) => {
    const { 'start-after': after, 'max-keys': limit, ...query } = request.query ?? {}
    if (query['encoding-type'] !== 'url' || typeof after !== 'string') return handle(request)
    const { response } = await handle({ ...request, query })
    const xml = Buffer.concat(await response.body.toArray()).toString()
    return { response: { ...response, body: Readable.from([showBehind(xml, after, Number(limit))]) } }
  })
  const names = ['a', 'b', 'größe', 'ζ', 'ж', '日本', '😀'].map((name) => `live/${name}`)
  for (const name of names) await bench.put(name)
  const found: string[] = []
  for (let after: string | undefined, turn = 0; turn === 0 || after !== undefined; turn++) {
    const page = await bench.store.list({ prefix: 'live/', folded: false, limit: 2, after })
    found.push(...page.objects.map(({ key }) => key))
    after = page.next
    expect(turn).toBeLessThan(names.length)
  }
  expect(found).toEqual(names)
  expect(console.warn).toHaveBeenCalledTimes(1)
})

it('A store that does not encode the names of versions lists names with + and %', async () => {
  wrapBucket(({ query: { 'encoding-type': _, ...query } = {}, ...request }, handle) => handle({ ...request, query }))
  const names = ['live/100%', 'live/a+b', 'live/%2F']
  for (const name of names) await bench.put(name)
  for (const name of names) expect((await bench.store.versions(name, { limit: 5 }))?.versions.length, name).toBe(1)
})

describe('A bucket whose versioning is not yet active', () => {
  // The answers of the bucket name no version.
  beforeEach(() =>
    wrapBucket(async (request, handle) => {
      const { response } = await handle(request)
      const { 'x-amz-version-id': _, ...headers } = response.headers
      return { response: { ...response, headers } }
    }),
  )

  it("An undone change removes its folder, and no file that may be another's", async () => {
    isLockedSince = true
    const staged = await stageObject(bench.store, 'live/f/a', 'x')
    const changes: Change[] = [
      { kind: 'folder', key: 'live/f/' },
      { kind: 'put', key: 'live/f/a', staged },
    ]
    expect(await bench.place(changes)).toEqual({ outcome: 'locked' })
    expect(await bench.keys()).toEqual(['live/f/a'])
  })

  it('Files can be stored, but a move, which could not be undone, is refused with 503', async () => {
    await bench.put('live/a')
    const move: Change = { kind: 'move', from: await bench.listed('live/a'), key: 'live/b' }
    const staged = await stageObject(bench.store, 'live/c', 'x')
    for (const changes of [[move], [move, { kind: 'put', key: 'live/c', staged } as const]])
      await expect(bench.place(changes)).rejects.toMatchObject({ code: 100503 })
    expect(await bench.keys()).toContain('live/a')
  })
})
