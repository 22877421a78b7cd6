import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { formHeaders, multipart, openStorage, renameTo, type StorageUnderTest } from './service.ts'

/** How a store fails in ways that pass. */
const failures = {
  throttled: () => Object.assign(new Error('Slow down'), { name: 'SlowDown', $metadata: { httpStatusCode: 503 } }),
  'timed out': () => Object.assign(new Error('Timed out'), { name: 'TimeoutError' }),
  'out of order': () =>
    Object.assign(new Error('Internal'), { name: 'InternalError', $metadata: { httpStatusCode: 500 } }),
}

/** Lets one call of the store fail: the one of that number, counted from 1; none at 0. */
const createFault = () => {
  let calls = 0
  let failing = 0
  let failure: () => Error = failures.throttled
  const count = () => {
    calls += 1
    if (calls === failing) throw failure()
  }
  const counted =
    <Input extends readonly unknown[], Output>(call: (...input: Input) => Promise<Output>) =>
    async (...input: Input): Promise<Output> => {
      count()
      return call(...input)
    }
  const wrap = (store: ObjectStore): ObjectStore => ({
    find: counted(store.find),
    read: counted(store.read),
    exists: counted(store.exists),
    list: counted(store.list),
    stage: counted(store.stage),
    place: counted(store.place),
    remove: counted(store.remove),
  })
  return {
    wrap,
    arm(number: number, kind: () => Error) {
      calls = 0
      failing = number
      failure = kind
    },
    get calls() {
      return calls
    },
  }
}

interface Scenario {
  /** Where everything that it does happens. */
  readonly prepare: (storage: StorageUnderTest, folder: string) => Promise<unknown>
  readonly run: (storage: StorageUnderTest, folder: string) => Promise<{ statusCode: number }>
}

const put = (storage: StorageUnderTest, path: string, body: string, query = {}) =>
  storage.call('PUT', path, { body, query })

const scenarios: Readonly<Record<string, Scenario>> = {
  'an upload of several files': {
    prepare: (storage, folder) => put(storage, `${folder}/deep/a`, 'old'),
    run: (storage, folder) => {
      const parts = [
        { name: 'a', content: 'new' },
        { name: 'b', content: 'new' },
        { name: 'c', content: 'x'.repeat(200_000) },
      ]
      return storage.call('POST', `${folder}/deep`, { headers: formHeaders, body: multipart(parts) })
    },
  },
  'a raw upload that publishes a page': {
    prepare: async (storage, folder) => {
      await put(storage, `${folder}/p.html`, 'old')
      await put(storage, `${folder}/p.html`, 'draft', { version: 'draft' })
    },
    run: (storage, folder) => put(storage, `${folder}/p.html`, 'new'),
  },
  'a rename of a folder': {
    prepare: async (storage, folder) => {
      for (const path of ['old/a', 'old/b/c', 'old/p.html']) await put(storage, `${folder}/${path}`, path)
    },
    run: (storage, folder) => renameTo(storage, `${folder}/old`, 'new'),
  },
  'a removal of a folder': {
    prepare: async (storage, folder) => {
      for (const path of ['gone/a', 'gone/b/c', 'gone/p.html']) await put(storage, `${folder}/${path}`, path)
    },
    run: (storage, folder) => storage.call('DELETE', `${folder}/gone`),
  },
}

describe.each(Object.entries(scenarios))('when one call to the store fails, %s', (_, { prepare, run }) => {
  let storage: StorageUnderTest
  const fault = createFault()
  beforeEach(async () => {
    storage = await openStorage(fault.wrap)
  })
  afterEach(() => storage.close())

  /** Every path below a folder with the content there, live and draft. */
  const stateOf = async (folder: string): Promise<string[]> => {
    fault.arm(0, failures.throttled)
    const lines: string[] = []
    for (const area of ['live', 'draft']) {
      const prefix = `${area}/${storage.site}${folder}/`
      const { objects } = await storage.deps.store.list({ prefix, folded: false, limit: 1000 })
      for (const { key } of objects) {
        const object = await storage.deps.store.read(key, ({ size }) => ({ first: 0, last: size - 1 }))
        const text = object?.body ? Buffer.concat(await object.body.toArray()).toString() : ''
        lines.push(`${area} ${key.slice(prefix.length)} ${text.slice(0, 10)} ${text.length}`)
      }
    }
    return lines
  }

  it.each(Object.entries(failures))(
    '%s: shows nothing partial, loses nothing, and succeeds when it is repeated',
    async (_, kind) => {
      await prepare(storage, '/measure')
      const before = await stateOf('/measure')
      fault.arm(0, kind)
      expect((await run(storage, '/measure')).statusCode).toBe(200)
      const calls = fault.calls
      const after = await stateOf('/measure')
      expect(after).not.toEqual(before)

      for (let number = 1; number <= calls; number++) {
        const folder = `/fault-${number}`
        fault.arm(0, kind)
        await prepare(storage, folder)
        fault.arm(number, kind)
        expect((await run(storage, folder)).statusCode).toBe(503)
        expect(await stateOf(folder)).toEqual(before)
        expect(await storage.leftovers()).toBe(0)
        fault.arm(0, kind)
        expect((await run(storage, folder)).statusCode).toBe(200)
        expect(await stateOf(folder)).toEqual(after)
      }
    },
  )
})
