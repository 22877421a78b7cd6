import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createS3Clients } from '../../../lib/aws/s3/bucket.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import type { Change, Expected, ObjectStore } from '../../../lib/storage/object-store.ts'
import { inMemory, noRemovals } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { createMemoryS3, type MemoryS3 } from '../../support/memory-s3.ts'
import { infoOf, keysIn, nowhere, putObject, stageObject } from '../../support/objects.ts'
import { Refusal, type S3Request } from '../../support/s3-messages.ts'
import { tag } from '../../support/s3-xml.ts'

/** The deployed clients. Faults happen in the transport of the SDK. */
let s3: MemoryS3
let store: ObjectStore

beforeEach(() => {
  // The client waits a random time before it repeats a call. These tests make that time short.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  s3 = createMemoryS3()
  store = createS3ObjectStore({
    ...createS3Clients(inMemory(s3)),
    bucket: 'memory',
    removals: noRemovals,
    record: unrecorded,
    memory: 100,
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

const fail = (): never => {
  throw new Error('S3 has not received such a request')
}

const put = (key: string, text?: string) => putObject(store, key, text)
const listed = (key: string) => infoOf(store, key)
const keys = () => keysIn(store)

/** Lets the first matching requests fail. `seen` counts all matching requests. */
const failing = (looks: (request: S3Request) => boolean, times: number, fail: () => Error | Promise<Error>) => {
  const count = { seen: 0 }
  s3.before = async (request) => {
    if (!looks(request)) return
    count.seen += 1
    if (count.seen <= times) throw await fail()
  }
  return count
}
const isPut = ({ method, headers }: S3Request) => method === 'PUT' && headers['x-amz-copy-source'] === undefined
const isCopy = ({ headers }: S3Request) => headers['x-amz-copy-source'] !== undefined
const isCompletion = ({ method, query = {} }: S3Request) => method === 'POST' && query['uploadId'] !== undefined
const isRemoval = ({ method, query = {} }: S3Request) => method === 'DELETE' && query['versionId'] === undefined

describe('A call that creates a version', () => {
  const calls = [
    { name: 'a small file', looks: isPut, run: () => put('live/a') },
    { name: 'a large file', looks: isCompletion, run: () => put('live/a', 'x'.repeat(200)) },
    { name: 'a copy', looks: isCopy, run: () => move('live/from', 'live/to') },
    { name: 'a removal', looks: isRemoval, run: () => move('live/from', 'live/to') },
  ]
  const refusals = [
    { status: 503, code: 'SlowDown' },
    { status: 500, code: 'InternalError' },
  ]
  const move = async (from: string, key: string) => {
    const change: Change = { kind: 'move', from: await listed(from), key }
    return store.place([change], nowhere, entry)
  }

  it.each(calls.flatMap((call) => refusals.map((refusal) => ({ ...call, ...refusal }))))(
    'The call is repeated after a temporary refusal of S3: $name, $code',
    async ({ looks, run, status, code }) => {
      await put('live/from')
      const count = failing(looks, 2, () => new Refusal(status, code))
      expect(await run()).toEqual({ outcome: 'placed' })
      expect(count.seen).toBe(3)
    },
  )

  it.each(calls)('The call is given up after three refusals, and changes nothing: $name', async ({ looks, run }) => {
    await put('live/from')
    const before = await keys()
    const count = failing(looks, 99, () => new Refusal(503, 'SlowDown'))
    await expect(run()).rejects.toMatchObject({ code: 100503 })
    s3.before = async () => undefined
    expect([count.seen, await keys()]).toEqual([3, before])
  })

  it.each(calls)('The call is not repeated if its answer was lost: $name', async ({ looks, run }) => {
    await put('live/from')
    const before = await keys()
    const count = failing(looks, 99, () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
    await expect(run()).rejects.toMatchObject({ code: 100503 })
    s3.before = async () => undefined
    expect([count.seen, await keys()]).toEqual([1, before])
  })
})

describe('A write that expects the version that the caller saw', () => {
  const replace = async (text: string, matching: readonly Expected[]) => {
    const staged = await stageObject(store, 'live/a', text)
    return store.place([{ kind: 'put', key: 'live/a', staged }], { ...nowhere, matching }, entry)
  }
  const versions = () => s3.requests.filter((request) => isPut(request) || isCompletion(request)).length
  const writes = [
    { name: 'a small file', looks: isPut, text: 'new' },
    { name: 'a large file', looks: isCompletion, text: 'x'.repeat(200) },
  ]

  /** S3 carries out the call, and the caller gets this failure. */
  const loseAnswer = (looks: typeof isPut, failure: Error): void => {
    const { handle } = s3.requestHandler
    failing(looks, 1, async () => {
      s3.before = async () => undefined
      await handle(s3.requests.findLast(looks) ?? fail(), {})
      return failure
    })
  }

  it.each(writes)('The write is undone if its answer was lost: $name', async ({ looks, text }) => {
    await put('live/a', 'old')
    const before = await listed('live/a')
    loseAnswer(looks, Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
    await expect(replace(text, [before])).rejects.toMatchObject({ code: 100503 })
    expect(await listed('live/a')).toEqual(before)
  })

  it.each(writes)('A write that S3 made but reported as a failure is undone: $name', async ({ looks, text }) => {
    await put('live/a', 'old')
    const before = await listed('live/a')
    loseAnswer(looks, new Refusal(500, 'InternalError'))
    const outcome = await replace(text, [before]).catch((error: unknown) => error)
    expect(outcome).toMatchObject(looks === isPut ? { outcome: 'changed' } : { code: 100503 })
    expect([versions() > 2, await listed('live/a')]).toEqual([true, before])
  })

  it.each([
    [404, 'NoSuchKey'],
    [409, 'ConditionalRequestConflict'],
    [412, 'PreconditionFailed'],
  ])('A write that loses a race changes nothing: %i %s', async (status, code) => {
    await put('live/a', 'old')
    const before = await listed('live/a')
    failing(isPut, 1, () => new Refusal(status, code))
    expect(await replace('new', [before])).toEqual({ outcome: 'changed', key: 'live/a' })
    expect(await listed('live/a')).toEqual(before)
  })

  it('The write is undone if another object of its conditions changed meanwhile', async () => {
    await put('live/other', 'old')
    const other = await listed('live/other')
    failing(isPut, 1, async () => {
      s3.before = async () => undefined
      await put('live/other', 'new')
      await put('live/a', 'first')
      return new Refusal(503, 'SlowDown')
    })
    const matching = [{ key: other.key, version: other.version }]
    expect(await replace('mine', matching)).toEqual({ outcome: 'changed', key: 'live/other' })
    expect((await listed('live/a')).size).toBe(5)
  })

  it('One of two writes of several objects wins, in any order of arrival', async () => {
    const names = ['a', 'b', 'c'].map((name) => `live/${name}`)
    const place = async (text: string) => {
      const puts = names.map(async (key) => {
        const staged = await stageObject(store, key, text)
        return { kind: 'put', key, staged } as const
      })
      const matching = names.map((key) => ({ key, version: undefined }))
      return store.place(await Promise.all(puts), { ...nowhere, matching }, entry)
    }
    // The first call of one write and the last call of the other are late.
    s3.before = async ({ method, path, body }) => {
      const isLate = method === 'PUT' && String(body) === `late-${path.at(-1)}`
      for (let turns = 0; isLate && turns < 20; turns++) await turn()
    }
    const outcomes = (await Promise.all([place('late-a'), place('late-c')])).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['changed', 'placed'])
    expect(await keys()).toEqual(names)
  })

  it('A write answers 503 if S3 dropped the uploaded parts in a race', async () => {
    await put('live/a', 'old')
    const before = await listed('live/a')
    failing(isCompletion, 1, () => new Refusal(404, 'NoSuchUpload'))
    await expect(replace('x'.repeat(200), [before])).rejects.toMatchObject({ code: 100503 })
    expect(await listed('live/a')).toEqual(before)
  })
})

describe('A removal that loses a race', () => {
  it.each([
    [404, 'NoSuchKey'],
    [409, 'ConditionalRequestConflict'],
    [412, 'PreconditionFailed'],
  ])('An object that others removed stays removed: %i %s', async (status, code) => {
    for (const name of ['a', 'b']) await put(`live/${name}`)
    const [a, b] = [await listed('live/a'), await listed('live/b')]
    const isRemovalOfA = (request: S3Request) => isRemoval(request) && request.path.endsWith('/a')
    failing(isRemovalOfA, 1, async () => {
      s3.before = async () => undefined
      await store.remove([a], entry)
      return new Refusal(status, code)
    })
    const changes: Change[] = [a, b].map((from) => ({ kind: 'move', from, key: `${from.key}-moved` }))
    await store.place(changes, nowhere, entry).catch(() => {})
    expect(await keys()).not.toContain('live/a')
  })
})

describe('A removal of many objects, if S3 deletes only some of them', () => {
  const isBatch = ({ query = {} }: S3Request) => query['delete'] !== undefined
  const recorded = (body: unknown) => [...String(body).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)

  /** Lets S3 refuse these keys in the first batches. */
  const refuse = (names: readonly string[], code: string, times: number) => {
    const { handle } = s3.requestHandler
    let count = 0
    s3.requestHandler.handle = async (request, options) => {
      if (!isBatch(request) || ++count > times) return handle(request, options)
      const body = names.reduce(
        (xml, name) => xml.replace(`<Object><Key>live/${name}</Key>`, '<Object><Key>none</Key>'),
        String(request.body),
      )
      const { response } = await handle({ ...request, body: body.replace(/<ETag>[^<]*<\/ETag>/g, '') }, options)
      const errors = names.map((name) => `<Error>${tag('Key', `live/${name}`)}${tag('Code', code)}</Error>`)
      return { response: { ...response, body: Readable.from([`<DeleteResult>${errors.join('')}</DeleteResult>`]) } }
    }
  }

  it.each(['SlowDown', 'InternalError', 'ServiceUnavailable'])(
    'Only the objects that S3 refused are requested again: %s',
    async (code) => {
      for (const name of ['a', 'b', 'c']) await put(`live/${name}`)
      const { objects } = await store.list({ prefix: 'live/', folded: false, limit: 10 })
      refuse(['b'], code, 2)
      await store.remove(objects, entry)
      expect(await keys()).toEqual([])
      expect(s3.requests.filter(isBatch).map(({ body }) => recorded(body).length)).toEqual([3, 1, 1])
    },
  )

  it('If S3 refuses too often, the request answers 503', async () => {
    for (const name of ['a', 'b']) await put(`live/${name}`)
    const { objects } = await store.list({ prefix: 'live/', folded: false, limit: 10 })
    refuse(['a', 'b'], 'SlowDown', 99)
    await expect(store.remove(objects, entry)).rejects.toMatchObject({ code: 100503, cause: { name: 'SlowDown' } })
    expect(await keys()).toEqual(['live/a', 'live/b'])
  })
})
