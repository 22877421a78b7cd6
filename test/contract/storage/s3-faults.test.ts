import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { failLikePort } from '../../../lib/aws/calls/client-calls.ts'
import { type Deadline, unlimited } from '../../../lib/core/time.ts'
import { partLength } from '../../../lib/storage/content.ts'
import type { Change, Staged } from '../../../lib/storage/object-store.ts'
import { createFastClients, openBucketInMemory, openObjectStore, removalsWhile } from '../../support/bucket.ts'
import { callsToTry } from '../../support/each-call.ts'
import { entry } from '../../support/history.ts'
import { bytesIn, contentIn, infoOf, nowhere, putObject, stageObject } from '../../support/objects.ts'
import { Refusal } from '../../support/s3-messages.ts'
import { inFunctionTime, latestAnswer, slowDown, slownesses } from './function-time.ts'
import { receiveUpload } from './s3-bench.ts'

type How = 'at once' | 'in parts'
type Store = ReturnType<typeof openObjectStore>

/** With `repeats`, the clients are those of the service, which repeat refused calls. */
const open = ({ repeats = false, how = 'at once' }: { repeats?: boolean; how?: How } = {}) => {
  const opened = openBucketInMemory()
  const single = { client: opened.connect(1), once: opened.connect(1) }
  const clients = repeats ? createFastClients(opened.bucket, opened.s3) : single
  for (const client of Object.values(single)) failLikePort(client)
  const state = { isLocked: false }
  const removals = removalsWhile(() => state.isLocked)
  const largestCopy = how === 'in parts' ? 0 : undefined
  return {
    ...opened,
    clients,
    state,
    store: openObjectStore(opened, { ...clients, removals, memory: 1_000, largestCopy }),
    /** The same bucket without faults. */
    others: openObjectStore(opened),
  }
}
type Opened = ReturnType<typeof open>

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  // The client waits a random time before it repeats a call. These tests make that time short.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => void vi.useRealTimers())

/** The faults of one call. */
const faults = ['fails', 'loses its answer', ...slownesses] as const
type Fault = (typeof faults)[number]
const isSlow = (fault: Fault) => fault !== 'fails' && fault !== 'loses its answer'

/** The call with this number gets a fault. With 0, no call gets a fault. With `andOn`, all later calls fail, too. */
const arm = ({ s3 }: Opened, number: number, fault: Fault, andOn = false) => {
  if (isSlow(fault)) return slowDown(s3, number, fault)
  let calls = 0
  s3.before = async (request) => {
    calls += 1
    if (calls !== number && !(andOn && number > 0 && calls > number)) return
    if (fault === 'fails') throw new Refusal(503, 'SlowDown')
    await s3.requestHandler.handle(request)
    throw new Refusal(500, 'InternalError')
  }
  return {
    calls: () => calls,
    release: async () => {
      s3.before = async () => undefined
    },
  }
}

type Stage = (key: string, size: number) => Promise<Staged>

interface Operation {
  readonly prepare: (opened: Opened) => Promise<unknown>
  readonly changes: (store: Store, stage: Stage) => Promise<readonly Change[]>
  /** An object whose version must not have changed. */
  readonly expects?: string
  /** A removal of the folder begins during the change, so that the change is undone. */
  readonly isLocked?: true
}

const everyKind: Operation = {
  expects: 'live/small',
  async prepare({ others }) {
    for (const name of ['small', 'from', 'draft']) await putObject(others, `live/${name}`, `old ${name}`)
  },
  async changes(store, stage) {
    const [small, large] = ['live/small', 'live/large']
    // `copies` and `restores` have the other kinds. A new kind does not compile without its change here.
    const ofKinds: Readonly<Record<Exclude<Change['kind'], 'copy' | 'restore'>, readonly Change[]>> = {
      put: [
        { kind: 'put', key: small, staged: await stage(small, 10) },
        { kind: 'put', key: large, staged: await stage(large, 2_000) },
      ],
      move: [{ kind: 'move', from: await infoOf(store, 'live/from'), key: 'live/to' }],
      remove: [{ kind: 'remove', key: 'live/draft' }],
      folder: [{ kind: 'folder', key: 'live/folder/' }],
    }
    return Object.values(ofKinds).flat()
  },
}

/** Two copies of two objects, the second time with a different type. */
const copies: Operation = {
  prepare: everyKind.prepare,
  async changes(store) {
    const objects = await Promise.all(['draft', 'from'].map((name) => infoOf(store, `live/${name}`)))
    return [
      { kind: 'folder', key: 'live/folder/' },
      ...objects.map((from) => ({ kind: 'copy', from, key: `${from.key}-copy` }) as const),
      ...objects.map((from) => ({ kind: 'copy', from, key: `${from.key}.css`, contentType: 'text/css' }) as const),
    ]
  },
}

/** Two removed objects, and an older state of another object. */
const restores: Operation = {
  async prepare({ others }) {
    for (const text of ['old', 'newer']) {
      for (const name of ['a', 'b', 'kept']) await putObject(others, `live/${name}`, `${text} ${name}`)
    }
    await others.remove(await Promise.all(['a', 'b'].map((name) => infoOf(others, `live/${name}`))), { entry })
  },
  async changes(store) {
    const changes: Change[] = []
    for await (const some of store.removedWithin('live/', { from: 0, to: Date.now() + 60_000 })) {
      changes.push(...some.map((one): Change => ({ ...one, kind: 'restore' })))
    }
    const oldest = (await store.versions('live/kept', { limit: 10 }))?.versions.at(-1)
    if (!oldest || changes.length !== 2) throw new Error('Nothing is there to be restored')
    return [...changes, { kind: 'restore', key: 'live/kept', ...oldest }]
  },
}

const operations: readonly (Operation & { readonly name: string; readonly how: How })[] = [
  { name: 'changes of every kind', how: 'at once', ...everyKind },
  { name: 'changes in a folder that is being removed', how: 'at once', ...everyKind, isLocked: true },
  ...(['at once', 'in parts'] as const).flatMap((how) => [
    { name: `copies ${how} (S-130)`, how, ...copies },
    { name: `restores ${how}`, how, ...restores },
  ]),
]

/** Returns the outcome or the error. `isStaged` runs before the changes are placed. */
const perform = async (
  { store }: Opened,
  { changes, expects }: Operation,
  { deadline = unlimited, isStaged = () => {} }: { readonly deadline?: Deadline; readonly isStaged?: () => void } = {},
): Promise<unknown> => {
  const staged: Staged[] = []
  const stage: Stage = async (key, size) => {
    const one = await stageObject(store, key, Buffer.alloc(size))
    staged.push(one)
    return one
  }
  try {
    const made = await changes(store, stage)
    const matching = expects ? [await infoOf(store, expects)] : []
    isStaged()
    return (await store.place(made, { ...nowhere, absent: ['live/other'], matching, deadline }, entry)).outcome
  } catch (error) {
    return error
  } finally {
    for (const one of staged) await one.discard().catch(() => {})
  }
}

/** The faults that an operation survives. If a call that undoes a change fails, the change stays. */
const faultsOf = ({ isLocked }: Operation): readonly Fault[] => (isLocked ? ['loses its answer'] : faults)

const cases = operations.flatMap((operation) => {
  const single = faultsOf(operation).map((fault) => ({
    ...operation,
    fault,
    repeats: false,
    what: `if a call ${fault}`,
  }))
  const repeated = (['fails', 'loses its answer'] as const).map((fault) => {
    return { ...operation, fault, repeats: true, what: `if a call ${fault} and is repeated` }
  })
  // A client that repeats calls treats the copies of both kinds alike.
  return operation.how === 'at once' ? [...single, ...repeated] : single
})

/** All keys of the bucket, each with its content. */
const stateOf = async ({ others }: Opened) => {
  const { objects } = await others.list({ prefix: '', folded: false, limit: 100 })
  return Promise.all(objects.map(async ({ key }) => `${key} ${await contentIn(others, key)}`))
}

it.each(cases)(
  'Either all or nothing is done $what, and a repetition succeeds: $name',
  { timeout: 60_000 },
  async ({ fault, repeats, how, ...operation }) => {
    /** Makes the changes in a new bucket, while the call with this number gets the fault. */
    const makeWithFault = async (number: number) => {
      const opened = open({ repeats, how })
      const { s3, state } = opened
      await operation.prepare(opened)
      const before = await stateOf(opened)
      state.isLocked = operation.isLocked ?? false
      let armed = arm(opened, 0, fault)
      const begin = () => {
        armed = arm(opened, number, fault)
      }
      const { result, elapsed } = await inFunctionTime((deadline, restart) => {
        if (!isSlow(fault)) begin()
        const isStaged = () => {
          restart()
          // Bytes are received without a time limit. So only later calls are slow.
          if (isSlow(fault)) begin()
        }
        return perform(opened, operation, { deadline, isStaged })
      })
      const calls = armed.calls()
      const answered = s3.requests.length
      await armed.release()
      state.isLocked = false
      expect(elapsed).toBeLessThan(latestAnswer)
      expect(s3.requests.slice(answered).filter(({ method }) => method === 'DELETE')).toEqual([])
      return { opened, result, calls, before, after: await stateOf(opened) }
    }

    const measured = await makeWithFault(0)
    const { before, after } = measured
    const [done, outcome] = operation.isLocked ? [before, 'locked'] : [after, 'placed']
    expect([measured.result, after]).toEqual([outcome, done])
    expect(after).not.toEqual(operation.isLocked ? [] : before)
    const leftovers = await measured.opened.leftovers()

    for (const number of callsToTry(measured.calls)) {
      const { opened, result, after: found } = await makeWithFault(number)
      if (isSlow(fault)) expect({ number, result }).toEqual({ number, result: 'late' })
      if (fault === 'fails' && repeats) expect({ number, result }).toEqual({ number, result: outcome })
      expect({ number, found }).toEqual({ number, found: result === 'placed' ? done : before })
      if (fault === 'fails') expect({ number, left: await opened.leftovers() }).toEqual({ number, left: leftovers })
      if (result !== 'placed') expect(await perform(opened, operation)).toBe('placed')
    }
  },
)

it('If undoing a change also fails, both failures are reported', async () => {
  const makeWithFaults = async (from: number) => {
    const opened = open()
    await everyKind.prepare(opened)
    const { calls, release } = arm(opened, from, 'fails', true)
    const error = await perform(opened, everyKind)
    await release()
    return { calls: calls(), error }
  }
  const { calls } = await makeWithFaults(0)
  // The last call belongs to the second check, after all changes are made.
  const { error } = await makeWithFaults(calls)
  expect(error).toMatchObject({ code: 100503, cause: { errors: [{ code: 100503 }, { code: 100503 }] } })
})

it.each(['fails', 'loses its answer'] as const)(
  'A resumable upload keeps its bytes when one of its last calls %s (U-29)',
  { timeout: 60_000 },
  async (fault) => {
    const opened = open()
    const { store, clients } = opened
    /** An upload in two parts. */
    const bytes = Buffer.concat([Buffer.alloc(partLength, 'a'), Buffer.from('b')])
    const receive = async (number: number) => {
      const place = await receiveUpload(store, clients, `${number}`, bytes)
      return { key: `live/${number}`, place: () => place({ absent: ['live/other'] }) }
    }
    const measured = await receive(0)
    const { calls } = arm(opened, 0, fault)
    await measured.place()
    for (const number of callsToTry(calls())) {
      const { key, place } = await receive(number)
      const { release } = arm(opened, number, fault)
      const first = await place().catch(() => 'failed')
      await release()
      if (first === 'failed') expect({ number, found: await store.find(key) }).toEqual({ number, found: undefined })
      await place()
      expect({ number, isWhole: (await bytesIn(store, key))?.equals(bytes) }).toEqual({ number, isWhole: true })
    }
  },
)
