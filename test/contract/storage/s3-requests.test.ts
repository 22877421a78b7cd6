import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Bucket, openBucket } from '../../../lib/aws/s3/bucket.ts'
import { headObject } from '../../../lib/aws/s3/find.ts'
import { createUploadParts } from '../../../lib/aws/s3/upload-parts.ts'
import { fingerprintOf, partLength } from '../../../lib/storage/fingerprint.ts'
import type { Change, ObjectStore, PlaceConditions } from '../../../lib/storage/object-store.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { bytesOf, infoOf, keysIn, nowhere, putObject, stageObject } from '../../support/objects.ts'
import type { S3Request } from '../../support/s3-messages.ts'
import { ownClaim } from '../../support/uploads.ts'

let s3: MemoryS3
/** The tested store, and another store over the same bucket for another caller. */
let store: ObjectStore
let others: ObjectStore
let open: (largestCopy?: number) => ReturnType<typeof openObjectStore>
let bucket: Bucket

/** The number of bytes that may wait in memory. */
const memory = 100

beforeEach(() => {
  const opened = openBucketInMemory()
  s3 = opened.s3
  open = (largestCopy) => openObjectStore(opened, { memory, largestCopy })
  bucket = openBucket({ client: opened.connect(), once: opened.connect(1), name: opened.bucket })
  store = open()
  others = open()
})

const place = (changes: readonly Change[], conditions: Partial<PlaceConditions> = {}) =>
  store.place(changes, { ...nowhere, ...conditions }, entry)

/** Runs this function once, before the first matching request is answered. */
const beforeThe = (looks: (request: S3Request) => boolean, run: () => Promise<unknown>): void => {
  s3.before = async (request) => {
    if (!looks(request)) return
    s3.before = async () => undefined
    await run()
  }
}
/** Breaks the connection of the first matching request, before or after S3 carried it out. */
const lose = (
  looks: (request: S3Request) => boolean,
  isMade: boolean,
  meanwhile: () => Promise<unknown> = async () => {},
): void => {
  s3.before = async (request) => {
    if (!looks(request)) return
    s3.before = async () => undefined
    if (isMade) await s3.requestHandler.handle(request)
    await meanwhile()
    throw Object.assign(new Error('The connection broke'), { code: 'ECONNRESET' })
  }
}
const isCopy = ({ headers }: S3Request) => headers['x-amz-copy-source'] !== undefined
const isCompletion = ({ method, query = {} }: S3Request) => method === 'POST' && query['uploadId'] !== undefined
const isRemovalOf =
  (key: string) =>
  ({ method, path, query = {} }: S3Request) =>
    method === 'DELETE' && path.endsWith(key) && query['versionId'] === undefined

describe('Small files', () => {
  const isUpload = ({ query = {} }: S3Request) => query['uploads'] !== undefined
  const full = 'x'.repeat(memory)
  const stage = (text: string) => stageObject(store, 'live/a', text)
  /** The number of multipart uploads for this text. */
  const uploadsFor = async (text: string): Promise<number> => {
    const before = s3.requests.filter(isUpload).length
    await (await stage(text)).discard()
    return s3.requests.filter(isUpload).length - before
  }

  it('Small files wait in memory while enough memory is free; others are uploaded at once', async () => {
    expect(await uploadsFor(full)).toBe(0)
    expect(await uploadsFor(`${full}x`)).toBe(1)
    const waiting = await stage('x')
    expect(await uploadsFor(full)).toBe(1)
    await waiting.discard()
    expect(await uploadsFor(full)).toBe(0)
  })

  it('Storing a file and then discarding its bytes frees the memory only once', async () => {
    const staged = await stage(full)
    await place([{ kind: 'put', key: 'live/a', staged }])
    expect(await uploadsFor(full)).toBe(0)
    await staged.discard()
    expect(await uploadsFor(`${full}x`)).toBe(1)
  })
})

describe('The parts of a large file', () => {
  it('Parts are joined in order, whatever the order in which they arrive', async () => {
    const text = `${'1'.repeat(partLength)}${'2'.repeat(partLength)}3`
    // The answers come in this order.
    const order = ['2', '3', '1']
    s3.before = async ({ query = {} }) => {
      while (order.includes(String(query['partNumber'])) && order[0] !== query['partNumber']) await turn()
      if (query['partNumber'] === order[0]) setImmediate(() => order.shift())
    }
    await putObject(store, 'live/large', text)
    const object = await store.read('live/large', ({ size }) => ({ first: partLength - 1, last: size - 1 }))
    const bytes = object && (await bytesOf(object)).toString()
    expect([bytes?.slice(0, 2), bytes?.slice(-2), bytes?.length]).toEqual(['12', '23', partLength + 2])
  })

  it('A copy in parts keeps the fingerprint, type and metadata of the file (S-83)', async () => {
    store = open(partLength)
    await putObject(store, 'live/large', 'x'.repeat(2 * partLength + 1))
    const from = await infoOf(store, 'live/large')
    expect(await place([{ kind: 'copy', from, key: 'live/copy' }])).toEqual({ outcome: 'placed' })
    const { fingerprint, contentType, size } = await infoOf(store, 'live/copy')
    expect({ fingerprint, contentType, size }).toEqual({
      fingerprint: from.fingerprint,
      contentType: 'text/plain',
      size: from.size,
    })
    expect(s3.requests.filter(isCopy).map(({ headers }) => headers['x-amz-copy-source-range'])).toEqual([
      `bytes=0-${partLength - 1}`,
      `bytes=${partLength}-${2 * partLength - 1}`,
      `bytes=${2 * partLength}-${2 * partLength}`,
    ])
    const [mark, ofCopy] = await Promise.all(['live/large', 'live/copy'].map((key) => headObject(bucket, key)))
    expect(ofCopy?.Metadata).toEqual(mark?.Metadata)
  })

  it('The parts of a resumable upload become its file without a copy (U-30)', async () => {
    const { adopt, place } = open()
    const parts = createUploadParts({ bucket, adopt })
    const target = { path: 'large', asDraft: false, key: 'live/large', contentType: 'text/plain' }
    const [holding, bytes] = [await parts.begin(target), Buffer.alloc(partLength + 1, 'x')]
    const begun = { id: 'one', target, created: 0, length: bytes.length, holding }
    const appended = await parts.append(begun, 0, Readable.from([bytes]), { size: 0, holding }, () => false)
    const staged = await parts.whole({ ...begun, holding: appended.holding, claim: ownClaim })
    await place([{ kind: 'put', key: target.key, staged }], nowhere, entry)
    expect(await infoOf(store, target.key)).toMatchObject({ size: bytes.length, fingerprint: fingerprintOf(bytes) })
    expect(s3.requests.filter(isCopy)).toEqual([])
  })
})

describe.each([
  ['at once', undefined],
  ['in parts', 0],
])('A move during a concurrent change, with copies %s', (_, largestCopy) => {
  beforeEach(() => {
    store = open(largestCopy)
  })
  const makesVersion = largestCopy === 0 ? isCompletion : isCopy

  const isMoved = ['live/a', 'live/b']
  it.each([
    ['a target', isCopy, () => putObject(others, 'live/b', 'theirs'), { outcome: 'occupied', key: 'live/b' }, isMoved],
    ['the source', isCopy, () => putObject(others, 'live/a', 'newer'), { outcome: 'stale', key: 'live/a' }, ['live/a']],
    [
      'the removed source',
      isCopy,
      async () => others.remove([await infoOf(store, 'live/a')], entry),
      { outcome: 'stale', key: 'live/a' },
      [],
    ],
    [
      'the copied source',
      isRemovalOf('live/a'),
      () => putObject(others, 'live/a', 'newer'),
      { outcome: 'stale', key: 'live/a' },
      ['live/a'],
    ],
  ])('A move never takes the bytes of another caller: %s', async (what, looks, change, result, left) => {
    await putObject(store, 'live/a')
    const from = await infoOf(store, 'live/a')
    beforeThe(looks, change)
    expect(await place([{ kind: 'move', from, key: 'live/b' }])).toEqual(result)
    expect(await keysIn(store)).toEqual(left)
    if (what === 'a target') expect((await store.find('live/b'))?.size).toBe('theirs'.length)
    if (what === 'the copied source') expect((await store.find('live/a'))?.size).toBe('newer'.length)
  })

  it('The object of another caller is not taken for a copy that failed', async () => {
    await putObject(store, 'live/a')
    const from = await infoOf(store, 'live/a')
    lose(makesVersion, false, () => putObject(others, 'live/b', 'theirs'))
    await expect(place([{ kind: 'move', from, key: 'live/b' }])).rejects.toThrow('The connection broke')
    expect(await keysIn(store)).toEqual(isMoved)
  })
})

describe('An object that appears while a change is being made', () => {
  it('An object that the change itself creates is no conflict', async () => {
    const staged = await stageObject(store, 'live/f/a', 'x')
    const changes: Change[] = [
      { kind: 'folder', key: 'live/f/' },
      { kind: 'put', key: 'live/f/a', staged },
    ]
    expect(await place(changes, { absent: ['live/f/', 'live/f/a'] })).toEqual({ outcome: 'placed' })
  })
})

it('A change in a new folder is undone if a file has the name of the folder', async () => {
  await putObject(store, 'live/f', 'file')
  await place([{ kind: 'folder', key: 'live/f/' }])
  const staged = await stageObject(store, 'live/f/a', 'x')
  const conditions = { absent: [], present: ['live/f/'], absentIfNew: ['live/f'] }
  expect(await place([{ kind: 'put', key: 'live/f/a', staged }], conditions)).toEqual({
    outcome: 'occupied',
    key: 'live/f',
  })
  expect(await keysIn(store)).toEqual(['live/f', 'live/f/'])
})

describe('A removal whose answer was lost, and which is undone', () => {
  /** Loses the answer to a removal, so that the removal fails. */
  const removeInVain = async (key: string, isMade: boolean): Promise<unknown> => {
    lose(isRemovalOf(`/${key}`), isMade)
    return place([{ kind: 'remove', key }]).catch((error: unknown) => error)
  }

  it('The object that the call removed is restored, not an object that was removed earlier', async () => {
    for (const text of ['first', 'second']) {
      await putObject(store, 'live/a', text)
      await store.remove([await infoOf(store, 'live/a')], entry)
    }
    await putObject(store, 'live/a', 'the last one')
    expect(await removeInVain('live/a', true)).toBeInstanceOf(Error)
    expect((await store.find('live/a'))?.size).toBe('the last one'.length)
  })

  it.each([
    [
      'a removed neighbour',
      async () => {
        await putObject(store, 'live/a-b')
        await store.remove([await infoOf(store, 'live/a-b')], entry)
      },
    ],
    [
      'an earlier object of the same key',
      async () => {
        await store.remove([await infoOf(store, 'live/a')], entry)
        await putObject(store, 'live/a')
      },
    ],
  ])('If S3 removed nothing, nothing is restored: %s', async (_, prepare) => {
    await putObject(store, 'live/a')
    await prepare()
    expect(await removeInVain('live/a', false)).toBeInstanceOf(Error)
    expect(await keysIn(store)).toEqual(['live/a'])
    expect(s3.requests.filter(({ method, query = {} }) => method === 'DELETE' && query['versionId'])).toEqual([])
  })
})

describe('A removal of many objects', () => {
  const isBatch = ({ query = {} }: S3Request) => query['delete'] !== undefined

  it('The calls ask S3 to report only failures', async () => {
    for (const name of ['a', 'b']) await putObject(store, `live/${name}`)
    const { objects } = await store.list({ prefix: 'live/', folded: false, limit: 10 })
    await store.remove(objects, entry)
    const batches = s3.requests.filter(isBatch)
    expect(batches.map(({ body }) => /<Quiet>(\w+)</.exec(String(body))?.[1])).toEqual(['true'])
    expect(await keysIn(store)).toEqual([])
  })

  it('Each call deletes up to 1,000 objects', async () => {
    const objects = Array.from({ length: 2_001 }, (_, index) => ({ key: `live/${index}`, version: 'x', size: 1 }))
    await store.remove(objects, entry)
    const sizes = s3.requests.filter(isBatch).map(({ body }) => String(body).split('<Object>').length - 1)
    expect(sizes).toEqual([1_000, 1_000, 1])
  })
})

describe('A search for files and folders in conflict with a change', () => {
  /** The calls that one check of these keys makes. */
  const asked = async (...absent: string[]): Promise<string[]> => {
    const before = s3.requests.length
    await place([], { absent })
    const looks = s3.requests.slice(before).map(({ method, query = {} }) => `${method} ${query['prefix'] ?? ''}`)
    // The second check makes the same calls as the first one.
    return looks.slice(0, looks.length / 2).sort()
  }

  it('One listing looks up many folders that have the same parent', async () => {
    await putObject(store, 'live/f/1/a')
    expect(await asked('live/f/1x/', 'live/f/2/', 'live/f/3/')).toEqual(['GET live/f/'])
    expect(await asked('live/f/2/')).toEqual(['GET live/f/2/'])
    expect(await asked('live/f/2/', 'live/g/2/', 'live/a')).toEqual(['GET live/f/2/', 'GET live/g/2/', 'HEAD '])
  })

  it('The listing leaves out objects deep below the folder', async () => {
    for (let index = 0; index < 5; index++) await putObject(store, `live/f/1/${index}`)
    expect(await place([], { absent: ['live/f/0/', 'live/f/2/'] })).toEqual({ outcome: 'placed' })
    expect(s3.requests.find(({ query = {} }) => query['prefix'] === 'live/f/')?.query?.['delimiter']).toBe('/')
    expect(await place([], { absent: ['live/f/0/', 'live/f/1/'] })).toEqual({ outcome: 'occupied', key: 'live/f/1/' })
  })

  it('The error names the first key in use', async () => {
    await putObject(store, 'live/f/1/a')
    await putObject(store, 'live/b')
    for (const absent of [
      ['live/b', 'live/f/1/'],
      ['live/f/1/', 'live/b'],
    ]) {
      expect(await place([], { absent })).toEqual({ outcome: 'occupied', key: absent[0] })
    }
  })
})
