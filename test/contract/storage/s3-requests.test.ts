import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { marked, openBucket, until } from '../../../lib/aws/s3/bucket.ts'
import { sendCopy } from '../../../lib/aws/s3/copy.ts'
import { headObject } from '../../../lib/aws/s3/find.ts'
import { fingerprintOf, partLength } from '../../../lib/storage/content.ts'
import type { Change } from '../../../lib/storage/object-store.ts'
import { bytesIn, stageObject } from '../../support/objects.ts'
import type { S3Request } from '../../support/s3-messages.ts'
import {
  atFirst,
  brokenConnection,
  isBatch,
  isCompletion,
  isCopy,
  isRemovalOf,
  type Matcher,
  openS3Bench,
  receiveUpload,
  type S3Bench,
} from './s3-bench.ts'

/** The number of bytes that may wait in memory. */
const memory = 100
let bench: S3Bench

beforeEach(() => {
  bench = openS3Bench({ memory })
})

const isUpload: Matcher = ({ query = {} }) => query['uploads'] !== undefined
const full = 'x'.repeat(memory)
const stage = (text: string) => stageObject(bench.store, 'live/a', text)
/** The number of multipart uploads for this text. */
const uploadsFor = async (text: string): Promise<number> =>
  (await bench.requestsOf(async () => (await stage(text)).discard())).filter(isUpload).length

it('Small files wait in memory while some is free; others are uploaded at once', async () => {
  expect(await uploadsFor(full)).toBe(0)
  expect(await uploadsFor(`${full}x`)).toBe(1)
  const waiting = await stage('x')
  expect(await uploadsFor(full)).toBe(1)
  await waiting.discard()
  expect(await uploadsFor(full)).toBe(0)
})

it('Storing a file and then discarding its bytes frees the memory only once', async () => {
  const staged = await stage(full)
  await bench.place([{ kind: 'put', key: 'live/a', staged }])
  expect(await uploadsFor(full)).toBe(0)
  await staged.discard()
  expect(await uploadsFor(`${full}x`)).toBe(1)
})

describe('The parts of a large file', () => {
  it('Parts are joined in order, whatever the order in which they arrive', async ({ signal }) => {
    const text = `${'1'.repeat(partLength)}${'2'.repeat(partLength)}3`
    // The answers come in this order.
    const order = ['2', '3', '1']
    bench.s3.before = async ({ query = {} }) => {
      const mustWait = () => order.includes(String(query['partNumber'])) && order[0] !== query['partNumber']
      while (mustWait() && !signal.aborted) await turn()
      if (query['partNumber'] === order[0]) setImmediate(() => order.shift())
    }
    await bench.put('live/large', text)
    expect((await bytesIn(bench.store, 'live/large'))?.equals(Buffer.from(text))).toBe(true)
  })

  it('A copy in parts keeps the fingerprint, type and metadata of the file (S-83)', async () => {
    bench = openS3Bench({ memory, largestCopy: partLength })
    await bench.put('live/large', 'x'.repeat(2 * partLength + 1))
    const from = await bench.listed('live/large')
    const copy: Change = { kind: 'copy', from, key: 'live/copy' }
    expect(await bench.place([copy])).toEqual({ outcome: 'placed' })
    const { fingerprint, contentType, size } = from
    expect(await bench.listed('live/copy')).toMatchObject({ fingerprint, contentType, size })
    expect(bench.s3.requests.filter(isCopy).map(({ headers }) => headers['x-amz-copy-source-range'])).toEqual([
      `bytes=0-${partLength - 1}`,
      `bytes=${partLength}-${2 * partLength - 1}`,
      `bytes=${2 * partLength}-${2 * partLength}`,
    ])
    const bucket = openBucket({ ...bench.clients, name: bench.bucket })
    const [source, ofCopy] = await Promise.all([from.key, copy.key].map((key) => headObject(bucket, key)))
    expect(ofCopy?.Metadata).toEqual(source?.Metadata)
  })

  it('Copies of several files make at most 128 calls at once, and none after the end', async ({ signal }) => {
    const request = new AbortController()
    const opened = openBucket({ ...bench.clients, name: bench.bucket, largestCopy: partLength })
    const bucket = until(opened, request.signal)
    let begun = 0
    bench.s3.before = async (sent) => {
      if (!isCopy(sent)) return
      begun += 1
      await new Promise(() => {})
    }
    const source = { key: 'live/large', size: 32 * partLength }
    const goals = ['1', '2', '3', '4', '5'].map((name) => ({ Key: `live/${name}`, ...marked(undefined, name) }))
    const copies = goals.map((goal) => sendCopy(bucket, source, goal))
    while (begun < 128 && !signal.aborted) await turn()
    for (let turns = 0; turns < 100; turns++) await turn()
    request.abort()
    await Promise.all(copies.map((copy) => expect(copy).rejects.toMatchObject({ code: 100503 })))
    expect(begun).toBe(128)
  })

  const bytes = Buffer.alloc(partLength + 1, 'x')
  const upload = () => receiveUpload(bench.store, bench.clients, 'large', bytes)
  const isWhole = async () => (await bytesIn(bench.store, 'live/large'))?.equals(bytes)

  it('The parts of a resumable upload become its file without a copy (U-30)', async () => {
    const place = await upload()
    expect([await place(), await isWhole()]).toEqual([{ outcome: 'placed' }, true])
    expect(await bench.listed('live/large')).toMatchObject({ fingerprint: fingerprintOf(bytes) })
    expect(bench.s3.requests.filter(isCopy)).toEqual([])
  })

  it('The parts of a resumable upload replace no file that appears meanwhile (S-64)', async () => {
    const place = await upload()
    atFirst(bench.s3, isCompletion, () => bench.put('live/large', 'other'))
    const matching = [{ key: 'live/large', version: undefined }]
    expect(await place({ matching })).toMatchObject({ outcome: 'changed' })
    expect(String(await bytesIn(bench.store, 'live/large'))).toBe('other')
  })

  it('An undone resumable upload keeps its bytes if their copy breaks (U-30)', async () => {
    const place = await upload()
    bench.failing(isCopy, 1, brokenConnection)
    expect(await place({ present: ['live/gone/'] })).toMatchObject({ outcome: 'stale' })
    expect([await isWhole(), await place(), await isWhole()]).toEqual([undefined, { outcome: 'placed' }, true])
  })
})

describe.each([
  ['at once', undefined],
  ['in parts', 0],
])('A move during a concurrent change, with copies %s', (_, largestCopy) => {
  beforeEach(() => {
    bench = openS3Bench({ memory, largestCopy })
  })
  const [a, b] = ['live/a', 'live/b']
  const move = async () => bench.place([{ kind: 'move', from: await bench.listed(a), key: b }])
  /** The sizes of all objects. */
  const sizes = async () =>
    Object.fromEntries(
      await Promise.all((await bench.keys()).map(async (key) => [key, (await bench.listed(key)).size])),
    )

  const own = a.length
  it.each<[string, Matcher, () => Promise<unknown>, object, object]>([
    ['a target', isCopy, () => bench.put(b, 'theirs'), { outcome: 'occupied', key: b }, { [a]: own, [b]: 6 }],
    ['the source', isCopy, () => bench.put(a, 'newer'), { outcome: 'stale', key: a }, { [a]: 5 }],
    ['the removed source', isCopy, () => bench.remove(a), { outcome: 'stale', key: a }, {}],
    ['the copied source', isRemovalOf(a), () => bench.put(a, 'newer'), { outcome: 'stale', key: a }, { [a]: 5 }],
    ['the removed source after its copy', isRemovalOf(a), () => bench.remove(a), { outcome: 'stale', key: a }, {}],
  ])('A move never takes the bytes of another caller: %s', async (_, isMeant, change, result, left) => {
    await bench.put(a)
    bench.meanwhile(isMeant, change)
    expect(await move()).toEqual(result)
    expect(await sizes()).toEqual(left)
  })

  it('The object of another caller is not taken for a copy that failed', async () => {
    await bench.put(a)
    bench.meanwhile(largestCopy === 0 ? isCompletion : isCopy, async () => {
      await bench.put(b, 'theirs')
      throw brokenConnection()
    })
    await expect(move()).rejects.toMatchObject({ code: 100503 })
    expect(await sizes()).toEqual({ [a]: own, [b]: 6 })
  })
})

it('A change in a new folder is undone if a file has the name of the folder', async () => {
  await bench.put('live/f', 'file')
  await bench.place([{ kind: 'folder', key: 'live/f/' }])
  const staged = await stageObject(bench.store, 'live/f/a', 'x')
  const conditions = { absent: [], present: ['live/f/'], absentIfNew: ['live/f'] }
  expect(await bench.place([{ kind: 'put', key: 'live/f/a', staged }], conditions)).toEqual({
    outcome: 'occupied',
    key: 'live/f',
  })
  expect(await bench.keys()).toEqual(['live/f', 'live/f/'])
})

describe('A removal whose answer was lost, and which is undone', () => {
  const key = 'live/a'
  const removed = async (name: string, text = name) => {
    await bench.put(name, text)
    await bench.remove(name)
  }

  it('The object of the call is restored, not one that was removed earlier', async () => {
    for (const text of ['first', 'second']) await removed(key, text)
    await bench.put(key, 'the last one')
    bench.loseAnswer(isRemovalOf(key))
    await expect(bench.place([{ kind: 'remove', key }])).rejects.toThrow()
    expect((await bench.listed(key)).size).toBe('the last one'.length)
  })

  it.each(['live/a-b', key])('If S3 removed nothing, the removed object %s is not restored', async (other) => {
    await removed(other)
    await bench.put(key)
    bench.meanwhile(isRemovalOf(key), () => Promise.reject(brokenConnection()))
    await expect(bench.place([{ kind: 'remove', key }])).rejects.toThrow()
    expect(await bench.keys()).toEqual([key])
    const isPurge: Matcher = ({ method, query = {} }) => method === 'DELETE' && query['versionId'] !== undefined
    expect(bench.s3.requests.filter(isPurge)).toEqual([])
  })
})

it('A removal of many objects asks S3 to report only failures', async () => {
  for (const name of ['a', 'b']) await bench.put(`live/${name}`)
  await bench.remove('live/a', 'live/b')
  const batches = bench.s3.requests.filter(isBatch)
  expect(batches.map(({ body }) => /<Quiet>(\w+)</.exec(String(body))?.[1])).toEqual(['true'])
  expect(await bench.keys()).toEqual([])
})

/** The calls that one check of these keys makes. */
const asked = async (...absent: string[]): Promise<string[]> => {
  const requests = await bench.requestsOf(() => bench.place([], { absent }))
  const looks = requests.map(({ method, query = {} }: S3Request) =>
    [method, query['prefix'], query['delimiter']].filter(Boolean).join(' '),
  )
  // The second check makes the same calls as the first one.
  return looks.slice(0, looks.length / 2).sort()
}

it('One listing looks up many folders of one parent, without their contents', async () => {
  await bench.put('live/f/1/a')
  expect(await asked('live/f/1x/', 'live/f/2/', 'live/f/3/')).toEqual(['GET live/f/ /'])
  expect(await asked('live/f/2/')).toEqual(['GET live/f/2/'])
  expect(await asked('live/f/2/', 'live/g/2/', 'live/a')).toEqual(['GET live/f/2/', 'GET live/g/2/', 'HEAD'])
})

it('The error names the first key in use', async () => {
  for (const key of ['live/f/1/a', 'live/b']) await bench.put(key)
  for (const absent of [
    ['live/b', 'live/f/1/'],
    ['live/f/1/', 'live/b'],
  ]) {
    expect(await bench.place([], { absent })).toEqual({ outcome: 'occupied', key: absent[0] })
  }
})
