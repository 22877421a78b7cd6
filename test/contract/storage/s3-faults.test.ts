import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { failLikePort } from '../../../lib/aws/calls/client-calls.ts'
import type { Change, ObjectStore, Staged } from '../../../lib/storage/object-store.ts'
import { noRemovals, openObjectStore, openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { callsToTry } from '../../support/each-call.ts'
import { entry } from '../../support/history.ts'
import { nowhere, putObject, stageObject } from '../../support/objects.ts'

const failure = () =>
  Object.assign(new Error('Internal'), { name: 'InternalError', $metadata: { httpStatusCode: 500 } })

/**
 * Clients of which one call fails: before it is sent, or after it was answered, so that nobody knows of what it did.
 * What fails as a whole is seen by the store at once; what fails on the wire is repeated by the client that repeats, as
 * it is when deployed.
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
    /** The call of that number fails, or its answer is lost; `andOn` says that all calls after it fail, too. */
    arm(number: number, lost: boolean, andOn = false) {
      calls = 0
      failing = number
      failsOn = andOn
      isAnswerLost = lost
    },
    calls: () => calls,
  }
}

/** Folders that nobody removes, unless a test says that one is going when it is looked at again. */
const createRemovals = () => {
  const state = { goes: false }
  const look = async () => ({ isRemoving: false, hasChanged: async () => state.goes })
  return { state, removals: { ...noRemovals, look } }
}

describe.each(['as a whole', 'on the wire'] as const)(
  'when one call to S3 fails, or its answer is lost, %s',
  (where) => {
    const { state: folders, removals } = createRemovals()
    let opened: TestBucket
    let faulty: ReturnType<typeof createFaultyClients>
    let store: ObjectStore

    beforeAll(async () => {
      // The client waits by chance before it repeats a call: here, never for long.
      vi.spyOn(Math, 'random').mockReturnValue(0)
      opened = await openTestBucket()
      faulty = createFaultyClients(opened.connect, where)
      store = openObjectStore(opened, { client: faulty.client, once: faulty.once, removals, memory: 1_000 })
    })

    beforeEach(() => {
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
    /** An upload of a small and a large file, a rename, a draft that goes, and a folder, at once. */
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
        if (!from) throw new Error('Nothing is there to be moved')
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
        // What it failed with tells more than that letting go failed as well.
        for (const one of staged) await one.discard().catch(() => {})
        throw error
      }
    }
    /** What was removed comes back, and another object in a state of before, at once. */
    const restoreAll = async (prefix: string): Promise<void> => {
      const changes: Change[] = []
      for await (const some of store.removedWithin(prefix, { from: 0, to: Date.now() + 60_000 })) {
        changes.push(...some.map((one): Change => ({ ...one, kind: 'restore' })))
      }
      const page = await store.versions(`${prefix}kept`, { limit: 10 })
      const oldest = page?.versions.at(-1)
      if (!oldest || changes.length !== 2) throw new Error('Nothing is there to be restored')
      await store.place([...changes, { kind: 'restore', key: `${prefix}kept`, id: oldest.id }], nowhere, entry)
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

    /** Copies of two objects, of one under another type, and a folder on the way, at once. */
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

    /** Has each call fail, or its answer be lost, one after the other. */
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
      // Those of a call that made them and was never heard of.
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
        // A folder is no part of anything: it may stay, empty, when nobody knows that it was made.
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
      ['is lost', true],
    ] as const

    it.each(faults)(
      'and it %s: what was there before is there again, no part stays, and a repetition succeeds',
      (_, lost) => failEachCall('changes', lost, change),
      300_000,
    )

    it.each(faults)(
      'and it %s while objects are copied: nothing of the copies stays, and a repetition succeeds',
      (_, lost) => failEachCall('copies', lost, copyAll),
    )

    it.each(faults)(
      'and it %s while objects are restored: all of them are there or none, and a repetition succeeds',
      (_, lost) => failEachCall('restores', lost, restoreAll, prepareRemoved),
    )

    it('and it is lost, and the changes are taken back because a folder goes: what was there before is there again', async () => {
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

    it('and so does taking the changes back: both failures are told', async () => {
      await prepare('live/measure-both/')
      faulty.arm(0, false)
      await change('live/measure-both/')
      const calls = faulty.calls()
      await prepare('live/both/')
      // The last call is one of the second look, when everything is in place.
      faulty.arm(calls, false, true)
      const error = await change('live/both/').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 100503, cause: { errors: [{ code: 100503 }, { code: 100503 }] } })
    })

    it('and a batch of removals fails in part: it is told, and a repetition removes the rest', async () => {
      faulty.arm(0, false)
      for (const name of ['a', 'b', 'c']) await putObject(store, `live/batch/${name}`, name)
      const { objects } = await store.list({ prefix: 'live/batch/', folded: false, limit: 10 })
      const client = opened.connect()
      client.middlewareStack.add(
        (next) => async (input) => {
          const result = await next(input)
          Object.assign(result.output, { Errors: [{ Key: 'live/batch/b', Code: 'SlowDown', Message: 'Slow down' }] })
          return result
        },
        { step: 'initialize' },
      )
      const partial = openObjectStore(opened, { client, once: client, removals })
      await expect(partial.remove(objects, entry)).rejects.toMatchObject({ code: 100503, cause: { name: 'SlowDown' } })
      await store.remove(objects, entry)
      expect(await stateOf('live/batch/')).toEqual([])
    })
  },
)
