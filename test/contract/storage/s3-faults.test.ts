import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { failLikePort } from '../../../lib/aws/calls/client-calls.ts'
import { openBucket } from '../../../lib/aws/s3/bucket.ts'
import { createUploadParts } from '../../../lib/aws/s3/upload-parts.ts'
import { partLength } from '../../../lib/storage/fingerprint.ts'
import type { Change, ObjectStore, Staged } from '../../../lib/storage/object-store.ts'
import { noRemovals, openObjectStore, openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { callsToTry } from '../../support/each-call.ts'
import { entry } from '../../support/history.ts'
import { bytesIn, nowhere, putObject, stageObject } from '../../support/objects.ts'
import { ownClaim } from '../../support/uploads.ts'

const failure = () =>
  Object.assign(new Error('Internal'), { name: 'InternalError', $metadata: { httpStatusCode: 500 } })

/**
 * Clients that fail one call: before it is sent, or after its answer, which is then lost. If a call fails "as a whole",
 * the store sees the failure at once. If it fails "on the wire", the client repeats the call, as it does when deployed.
 */
const createFaultyClients = (connect: TestBucket['connect'], where: 'as a whole' | 'on the wire') => {
  const client = connect(where === 'on the wire' ? 3 : 1)
  const once = connect(1)
  let calls = 0
  let failing = 0
  let failsOn = false
  let isAnswerLost = false
  const fault =
    <Input, Output>(next: (input: Input) => Promise<Output>) =>
    async (input: Input): Promise<Output> => {
      calls += 1
      const fails = calls === failing || (failsOn && failing > 0 && calls > failing)
      if (fails && !isAnswerLost) throw failure()
      const result = await next(input)
      if (fails) throw failure()
      return result
    }
  failLikePort(client)
  failLikePort(once)
  for (const { middlewareStack } of [client, once]) {
    if (where === 'on the wire') middlewareStack.add(fault, { step: 'deserialize' })
    else middlewareStack.add(fault, { step: 'initialize' })
  }
  return {
    client,
    once,
    /** Makes the call with this number fail or lose its answer. With `andOn`, all later calls fail, too. */
    arm(number: number, lost: boolean, andOn = false) {
      calls = 0
      failing = number
      failsOn = andOn
      isAnswerLost = lost
    },
    calls: () => calls,
  }
}

/** A port without removals. With `goes`, the second check finds a new removal. */
const createRemovals = () => {
  const state = { goes: false }
  return { state, removals: { ...noRemovals, isLockedSince: async () => state.goes } }
}

describe.each(['as a whole', 'on the wire'] as const)(
  'A change whose call to S3 fails or loses its answer, %s',
  (where) => {
    const { state: folders, removals } = createRemovals()
    let opened: TestBucket
    let faulty: ReturnType<typeof createFaultyClients>
    let stores: Readonly<Record<'at once' | 'in parts', ReturnType<typeof openObjectStore>>>
    let store: ObjectStore

    beforeAll(async () => {
      // The client waits a random time before it repeats a call. These tests make that time short.
      vi.spyOn(Math, 'random').mockReturnValue(0)
      opened = await openTestBucket()
      faulty = createFaultyClients(opened.connect, where)
      const options = { client: faulty.client, once: faulty.once, removals, memory: 1_000 }
      stores = {
        'at once': openObjectStore(opened, options),
        'in parts': openObjectStore(opened, { ...options, largestCopy: 0 }),
      }
    })

    beforeEach(() => {
      store = stores['at once']
      faulty.arm(0, false)
      folders.goes = false
    })

    afterAll(() => {
      vi.restoreAllMocks()
    })

    const stateOf = async (prefix: string): Promise<string[]> => {
      faulty.arm(0, false)
      const { objects } = await store.list({ prefix, folded: false, limit: 100 })
      return objects.map(({ key, size }) => `${key.slice(prefix.length)} ${size}`)
    }
    /** Uploads a small and a large file, renames a file, removes a draft and creates a folder, in one change. */
    const change = async (prefix: string): Promise<void> => {
      const staged: Staged[] = []
      try {
        for (const [name, size] of [
          ['small', 10],
          ['large', 2_000],
        ] as const) {
          staged.push(await stageObject(store, `${prefix}${name}`, Buffer.alloc(size), 'a/b'))
        }
        const from = await store.find(`${prefix}from`)
        if (!from) throw new Error('The source of the move is missing')
        const changes: Change[] = [
          ...staged.map(
            (one, index) => ({ kind: 'put', key: `${prefix}${index ? 'large' : 'small'}`, staged: one }) as const,
          ),
          { kind: 'move', from, key: `${prefix}to` },
          { kind: 'remove', key: `${prefix}draft` },
          { kind: 'folder', key: `${prefix}folder/` },
        ]
        const { outcome } = await store.place(changes, { ...nowhere, absent: [`${prefix}other`] }, entry)
        if (outcome !== 'placed') for (const one of staged) await one.discard()
      } catch (error) {
        // The first error is thrown, because it explains more than the error of a failed discard.
        for (const one of staged) await one.discard().catch(() => {})
        throw error
      }
    }
    /** Restores removed objects and an older state of another object, in one change. */
    const restoreAll = async (prefix: string): Promise<void> => {
      const changes: Change[] = []
      for await (const some of store.removedWithin(prefix, { from: 0, to: Date.now() + 60_000 })) {
        changes.push(...some.map((one): Change => ({ ...one, kind: 'restore' })))
      }
      const page = await store.versions(`${prefix}kept`, { limit: 10 })
      const oldest = page?.versions.at(-1)
      if (!oldest || changes.length !== 2) throw new Error('Nothing is there to be restored')
      await store.place([...changes, { kind: 'restore', key: `${prefix}kept`, ...oldest }], nowhere, entry)
    }
    const prepareRemoved = async (prefix: string) => {
      for (const name of ['a', 'b', 'kept']) await putObject(store, `${prefix}${name}`, `old ${name}`)
      for (const name of ['b', 'kept']) await putObject(store, `${prefix}${name}`, `newer ${name}`)
      const found = await Promise.all(['a', 'b'].map((name) => store.find(`${prefix}${name}`)))
      await store.remove(
        found.filter((object) => object !== undefined),
        entry,
      )
    }

    const prepare = async (prefix: string) => {
      for (const name of ['small', 'from', 'draft']) await putObject(store, `${prefix}${name}`, `old ${name}`)
    }

    /** In one change, copies two objects twice, the second time with a different type, and creates a folder. */
    const copyAll = async (prefix: string): Promise<void> => {
      const found = await Promise.all(['draft', 'from'].map((name) => store.find(`${prefix}${name}`)))
      const objects = found.filter((object) => object !== undefined)
      const changes: Change[] = [
        { kind: 'folder', key: `${prefix}folder/` },
        ...objects.map((from) => ({ kind: 'copy', from, key: `${from.key}-copy` }) as const),
        ...objects.map((from) => ({ kind: 'copy', from, key: `${from.key}.css`, contentType: 'text/css' }) as const),
      ]
      await store.place(changes, { ...nowhere, absent: [`${prefix}other`] }, entry)
    }

    /** Repeats the work. Each time, another of its calls fails or loses its answer. */
    const failEachCall = async (
      name: string,
      lost: boolean,
      work: (prefix: string) => Promise<void>,
      begin: (prefix: string) => Promise<void> = prepare,
    ) => {
      const measure = `live/measure-${name}-${lost}/`
      await begin(measure)
      const before = await stateOf(measure)
      await work(measure)
      const calls = faulty.calls()
      const after = await stateOf(measure)
      expect(after).not.toEqual(before)
      // Unfinished uploads that are left by calls whose answer was lost.
      const lostBefore = await opened.leftovers()

      for (const number of callsToTry(calls)) {
        const prefix = `live/${name}-${lost}-${number}/`
        faulty.arm(0, false)
        await begin(prefix)
        faulty.arm(number, lost)
        const isDone = await work(prefix).then(
          () => true,
          () => false,
        )
        const state = await stateOf(prefix)
        // An empty folder may stay when the answer to its creation was lost.
        expect({ number, state: state.filter((line) => line !== 'folder/ 0') }).toEqual({
          number,
          state: (isDone ? after : before).filter((line) => line !== 'folder/ 0'),
        })
        expect({ number, leftovers: await opened.leftovers() }).toEqual({
          number,
          leftovers: lost ? expect.any(Number) : lostBefore,
        })
        if (!isDone) await work(prefix)
        expect(await stateOf(prefix)).toEqual(after)
      }
    }

    const faults = [
      ['fails', false],
      ['loses its answer', true],
    ] as const

    it.each(faults)(
      'Every kind of change is undone when a call %s, and a repetition succeeds',
      (_, lost) => failEachCall('changes', lost, change),
      300_000,
    )

    // A client that repeats calls treats the copies of both kinds alike.
    const hows = where === 'on the wire' ? (['at once'] as const) : (['at once', 'in parts'] as const)
    const copies = hows.flatMap((how) => faults.map(([what, lost]) => ({ how, what, lost })))

    it.each(copies)('A copy $how is undone when a call $what, and a repetition succeeds (S-130)', ({ how, lost }) => {
      store = stores[how]
      return failEachCall(`copies-${how}`, lost, copyAll)
    })

    it.each(copies)('A restore $how is completed or undone when a call $what, and can be repeated', ({ how, lost }) => {
      store = stores[how]
      return failEachCall(`restores-${how}`, lost, restoreAll, prepareRemoved)
    })

    /** The bytes of an upload in two parts. */
    const bytes = Buffer.concat([Buffer.alloc(partLength, 'a'), Buffer.from('b')])
    const beginUpload = async (name: string) => {
      const { client, once } = faulty
      const parts = createUploadParts({
        bucket: openBucket({ client, once, name: opened.bucket }),
        adopt: stores['at once'].adopt,
      })
      const target = { path: name, asDraft: false, key: `live/${name}`, contentType: 'a/b' }
      const holding = await parts.begin(target)
      const begun = { id: randomUUID(), target, created: Date.now(), length: bytes.length, holding }
      const whole = {
        ...begun,
        holding: (await parts.append(begun, 0, Readable.from([bytes]), { size: 0, holding }, () => false)).holding,
      }
      const place = async (): Promise<unknown> => {
        const own = { ...whole, holding: await parts.takeOver(whole) }
        if (await parts.isInPlace(own)) return undefined
        const staged = await parts.whole({ ...own, claim: ownClaim })
        const changes: Change[] = [{ kind: 'put', key: target.key, staged }]
        return store.place(changes, { ...nowhere, absent: ['live/other'] }, entry).finally(staged.discard)
      }
      return { key: target.key, place }
    }

    it.each(faults)(
      'A resumable upload keeps its bytes when one of its last calls %s (U-29)',
      async (what, lost) => {
        const measure = await beginUpload(`upload-${what}-0`)
        faulty.arm(0, lost)
        await measure.place()
        for (const number of callsToTry(faulty.calls())) {
          const { key, place } = await beginUpload(`upload-${what}-${number}`)
          faulty.arm(number, lost)
          const first = await place().catch(() => 'failed')
          faulty.arm(0, false)
          if (first === 'failed') expect({ number, found: await store.find(key) }).toEqual({ number, found: undefined })
          await place()
          expect({ number, isWhole: (await bytesIn(store, key))?.equals(bytes) }).toEqual({ number, isWhole: true })
        }
      },
      300_000,
    )

    it('A change in a removed folder is also undone after a lost answer', async () => {
      await prepare('live/undone-0/')
      const before = await stateOf('live/undone-0/')
      folders.goes = true
      try {
        faulty.arm(0, true)
        await change('live/undone-0/')
        const calls = faulty.calls()
        for (const number of callsToTry(calls)) {
          const prefix = `live/undone-${number}/`
          folders.goes = false
          faulty.arm(0, false)
          await prepare(prefix)
          folders.goes = true
          faulty.arm(number, true)
          await change(prefix).catch(() => {})
          const state = await stateOf(prefix)
          expect({ number, state: state.filter((line) => line !== 'folder/ 0') }).toEqual({ number, state: before })
        }
      } finally {
        folders.goes = false
      }
    }, 300_000)

    it('If undoing a change also fails, both failures are reported', async () => {
      await prepare('live/measure-both/')
      faulty.arm(0, false)
      await change('live/measure-both/')
      const calls = faulty.calls()
      await prepare('live/both/')
      // The last call belongs to the second check, after all changes are made.
      faulty.arm(calls, false, true)
      const error = await change('live/both/').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 100503, cause: { errors: [{ code: 100503 }, { code: 100503 }] } })
    })
  },
)
