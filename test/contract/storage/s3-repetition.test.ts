import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Change, Expected, Staged } from '../../../lib/storage/object-store.ts'
import { entry } from '../../support/history.ts'
import { stageObject } from '../../support/objects.ts'
import { Refusal } from '../../support/s3-messages.ts'
import { tag } from '../../support/s3-xml.ts'
import {
  brokenConnection,
  isBatch,
  isCompletion,
  isCopy,
  isPut,
  isRemoval,
  isRemovalOf,
  type Matcher,
  openS3Bench,
  type S3Bench,
} from './s3-bench.ts'

let bench: S3Bench

beforeEach(() => {
  // The client waits a random time before it repeats a call. These tests make that time short.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  bench = openS3Bench({ memory: 100 })
})

const large = 'x'.repeat(200)
const refusals = [
  { status: 404, code: 'NoSuchKey' },
  { status: 409, code: 'ConditionalRequestConflict' },
  { status: 412, code: 'PreconditionFailed' },
]

describe('A call that creates a version', () => {
  const move = async () => bench.place([{ kind: 'move', from: await bench.listed('live/from'), key: 'live/to' }])
  const calls = [
    { name: 'a small file', isMeant: isPut, run: () => bench.put('live/a') },
    { name: 'a large file', isMeant: isCompletion, run: () => bench.put('live/a', large) },
    { name: 'a copy', isMeant: isCopy, run: move },
    { name: 'a removal', isMeant: isRemoval, run: move },
  ]
  const failures = [
    { what: 'given up after three refusals', tries: 3, fail: () => new Refusal(503, 'SlowDown') },
    { what: 'not repeated if its answer was lost', tries: 1, fail: brokenConnection },
  ]
  it.each(failures.flatMap((failure) => calls.map((call) => ({ ...call, ...failure }))))(
    'The call is $what, and changes nothing: $name',
    async ({ isMeant, run, tries, fail }) => {
      await bench.put('live/from')
      const before = await bench.keys()
      const count = bench.failing(isMeant, 99, fail)
      await expect(run()).rejects.toMatchObject({ code: 100503 })
      bench.s3.before = async () => undefined
      expect([count.seen, await bench.keys()]).toEqual([tries, before])
    },
  )
})

describe('A write that expects the version that the caller saw', () => {
  let before: Awaited<ReturnType<S3Bench['listed']>>
  beforeEach(async () => {
    await bench.put('live/a', 'old')
    before = await bench.listed('live/a')
  })

  const put = (staged: Staged): Change => ({ kind: 'put', key: 'live/a', staged })
  const replace = async (text: string, matching: readonly Expected[] = [before]) => {
    const staged = await stageObject(bench.store, 'live/a', text)
    return bench.place([{ kind: 'folder', key: 'live/0/' }, put(staged)], { matching })
  }
  it.each(refusals)('A write that loses a race changes nothing: $status $code', async ({ status, code }) => {
    bench.failing(isPut, 1, () => new Refusal(status, code))
    expect(await replace('new')).toEqual({ outcome: 'changed', key: 'live/a' })
    expect(await bench.listed('live/a')).toEqual(before)
  })

  it.each<[string, Matcher, () => Promise<Change>]>([
    ['a removal', isRemoval, async () => ({ kind: 'remove', key: 'live/a' })],
    ['a large file', isCompletion, async () => put(await stageObject(bench.store, 'live/a', large))],
    ['a large file whose key was not known', isCopy, async () => put(await stageObject(bench.store, undefined, large))],
  ])('A change that loses a race changes nothing: %s (S-64)', async (_, isMeant, change) => {
    const late = await change()
    bench.meanwhile(isMeant, () => bench.put('live/a', 'newer'))
    expect(await bench.place([late], { matching: [before] })).toEqual({ outcome: 'changed', key: 'live/a' })
    expect((await bench.listed('live/a')).size).toBe(5)
  })

  it('The write is undone if another object of its conditions changed meanwhile', async () => {
    await bench.put('live/other', 'old')
    const other = await bench.listed('live/other')
    bench.meanwhile(isPut, async () => {
      await bench.put('live/other', 'new')
      await bench.put('live/a', 'first')
      throw new Refusal(503, 'SlowDown')
    })
    expect(await replace('mine', [other])).toEqual({ outcome: 'changed', key: 'live/other' })
    expect((await bench.listed('live/a')).size).toBe(5)
  })

  it('One of two writes of several objects wins, in any order of arrival', async () => {
    const names = ['b', 'c', 'd'].map((name) => `live/${name}`)
    const placeAll = async (text: string) => {
      const puts = names.map(async (key) => {
        const staged = await stageObject(bench.store, key, text)
        return { kind: 'put', key, staged } as const
      })
      const matching = names.map((key) => ({ key, version: undefined }))
      return (await bench.place(await Promise.all(puts), { matching })).outcome
    }
    // The first call of one write and the last call of the other are late.
    bench.s3.before = async ({ method, path, body }) => {
      const isLate = method === 'PUT' && String(body) === `late-${path.at(-1)}`
      for (let turns = 0; isLate && turns < 20; turns++) await turn()
    }
    expect(await Promise.all([placeAll('late-b'), placeAll('late-d')])).toEqual(['changed', 'placed'])
    expect(await bench.keys()).toEqual(['live/a', ...names])
  })

  it('A request whose upload another request may have completed undoes nothing (U-29)', async () => {
    const claim = { renew: async () => false, complete: async () => {} }
    const content = { kind: 'memory', bytes: Buffer.from('x') } as const
    const staged = bench.store.adopt({ id: 'upload', size: 1, contentType: 'text/plain', content, claim })
    bench.meanwhile(isPut, () => bench.put('live/c'))
    const placing = bench.place([{ kind: 'put', key: 'live/b', staged }], { absent: ['live/c'] })
    await expect(placing).rejects.toMatchObject({ code: 100503 })
    expect(await bench.keys()).toContain('live/b')
  })

  it.each([
    ['dropped the uploaded parts', 404, 'NoSuchUpload'],
    ['replaced a part after it was listed', 400, 'InvalidPart'],
  ] as const)('A write answers 503 if a race %s', async (_, status, code) => {
    bench.failing(isCompletion, 1, () => new Refusal(status, code))
    await expect(replace(large)).rejects.toMatchObject({ code: 100503 })
    expect(await bench.listed('live/a')).toEqual(before)
  })
})

it.each(refusals)('If a move loses the race, its source stays removed: $status $code', async ({ status, code }) => {
  for (const name of ['a', 'b']) await bench.put(`live/${name}`)
  const sources = [await bench.listed('live/a'), await bench.listed('live/b')]
  bench.meanwhile(isRemovalOf('live/a'), async () => {
    await bench.remove('live/a')
    throw new Refusal(status, code)
  })
  await bench.place(sources.map((from) => ({ kind: 'move', from, key: `${from.key}-moved` }))).catch(() => {})
  expect(await bench.keys()).not.toContain('live/a')
})

describe('A removal whose answer was lost', () => {
  const names = ['live/a', 'live/b']
  const removals = [
    { name: 'of one object', keys: names.slice(0, 1), isMeant: isRemoval },
    { name: 'of several objects', keys: names, isMeant: isBatch },
  ]

  /** Removes the objects, while the answer to the first call is lost. Returns the outcome and the number of entries. */
  const removeLosing = async (keys: readonly string[], lose: () => void) => {
    for (const key of keys) await bench.put(key)
    let entries = 0
    const store = bench.open({ record: async () => void entries++ })
    const objects = await Promise.all(keys.map(bench.listed))
    lose()
    return { ...(await store.remove(objects, { entry })), entries }
  }

  it.each(removals)('A removal is recorded, its bytes stay counted: $name (H-1, S-125)', async ({ keys, isMeant }) => {
    const removal = await removeLosing(keys, () => bench.loseAnswer(isMeant))
    expect(removal).toEqual({ spared: new Set(), bytes: 0, entries: 1 })
    expect(await bench.keys()).toEqual([])
  })

  it.each(removals)('An object that others stored meanwhile is spared: $name', async ({ keys, isMeant }) => {
    const removal = await removeLosing(keys, () =>
      bench.meanwhile(isMeant, async (request) => {
        await bench.s3.requestHandler.handle(request)
        await bench.put('live/a', 'newer')
        throw brokenConnection()
      }),
    )
    expect(removal.spared).toEqual(new Set(['live/a']))
    expect(await bench.keys()).toEqual(['live/a'])
  })
})

describe('A removal of many objects, if S3 deletes only some of them', () => {
  const names = ['a', 'b', 'c'].map((name) => `live/${name}`)
  beforeEach(async () => {
    for (const name of names) await bench.put(name)
  })

  const recorded = (body: unknown) => [...String(body).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)

  /** Lets S3 refuse these keys in the first batches. */
  const refuse = (keys: readonly string[], code: string, times: number) => {
    const { handle } = bench.s3.requestHandler
    let count = 0
    bench.s3.requestHandler.handle = async (request, options) => {
      if (!isBatch(request) || ++count > times) return handle(request, options)
      const body = keys.reduce(
        (xml, key) => xml.replace(`<Object><Key>${key}</Key>`, '<Object><Key>none</Key>'),
        String(request.body),
      )
      const { response } = await handle({ ...request, body: body.replace(/<ETag>[^<]*<\/ETag>/g, '') }, options)
      const errors = keys.map((key) => `<Error>${tag('Key', key)}${tag('Code', code)}</Error>`)
      return { response: { ...response, body: Readable.from([`<DeleteResult>${errors.join('')}</DeleteResult>`]) } }
    }
  }

  it.each(['SlowDown', 'InternalError', 'ServiceUnavailable'])('Only refused objects are retried: %s', async (code) => {
    refuse(['live/b'], code, 1)
    await bench.remove(...names)
    expect(await bench.keys()).toEqual([])
    expect(bench.s3.requests.filter(isBatch).map(({ body }) => recorded(body).length)).toEqual([3, 1])
  })

  it('If S3 refuses too often, the request answers 503', async () => {
    refuse(names, 'SlowDown', 99)
    await expect(bench.remove(...names)).rejects.toMatchObject({ code: 100503, cause: { name: 'SlowDown' } })
    expect(await bench.keys()).toEqual(names)
  })
})
