import { expect, it } from 'vitest'
import { callsToTry } from '../../support/each-call.ts'
import { contentIn } from '../../support/objects.ts'
import { createFault } from './failing-stores.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

interface Scenario {
  /** Prepares a folder, in which `run` makes its changes. */
  readonly prepare: (storage: StorageUnderTest, folder: string) => Promise<unknown>
  readonly run: (storage: StorageUnderTest, folder: string) => Promise<{ status: number }>
}

const putEach = async (storage: StorageUnderTest, folder: string) => {
  for (const name of ['a', 'b/c', 'p.html']) await storage.put(`${folder}/${name}`, name)
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'an upload of several files': {
    prepare: (storage, folder) => storage.put(`${folder}/deep/a`, 'old'),
    run: (storage, folder) => {
      const parts = [
        { name: 'a', content: 'new' },
        { name: 'b', content: 'new' },
        { name: 'c', content: 'x'.repeat(200_000) },
      ]
      return storage.post(`${folder}/deep`, parts)
    },
  },
  'a raw upload that publishes a page': {
    prepare: async (storage, folder) => {
      await storage.put(`${folder}/p.html`, 'old')
      await storage.put(`${folder}/p.html`, 'draft', { version: 'draft' })
    },
    run: (storage, folder) => storage.put(`${folder}/p.html`, 'new'),
  },
  'a move of a folder': {
    prepare: (storage, folder) => putEach(storage, `${folder}/old`),
    run: (storage, folder) => storage.relocate(`${folder}/old`, { path: `${folder}/deep/new` }),
  },
  'a copy of a folder': {
    prepare: async (storage, folder) => {
      await putEach(storage, `${folder}/old`)
      await storage.put(`${folder}/old/large`, 'x'.repeat(200_000))
    },
    run: (storage, folder) => storage.relocate(`${folder}/old`, { copyTo: `${folder}/deep/new` }),
  },
  'a removal of a folder': {
    prepare: (storage, folder) => putEach(storage, `${folder}/gone`),
    run: (storage, folder) => storage.remove(`${folder}/gone`),
  },
}

const cases = Object.entries(scenarios)
it.each(cases)('A failed call during %s changes nothing, and a repetition succeeds', async (_, { prepare, run }) => {
  const fault = createFault()
  const storage = await openStorage(fault)

  /** The live content and the draft at every path below a folder. */
  const stateOf = async (folder: string): Promise<string[]> => {
    fault.arm(0)
    const keys = (await storage.keys()).filter((key) => key.includes(`${folder}/`))
    return Promise.all(
      keys.map(async (key) => {
        const text = (await contentIn(storage.deps.files, key)) ?? ''
        return `${key.replace(folder, '')} ${text.slice(0, 10)} ${text.length}`
      }),
    )
  }

  await prepare(storage, '/measure')
  const before = await stateOf('/measure')
  fault.arm(0)
  expect((await run(storage, '/measure')).status).toBe(200)
  const calls = fault.calls
  const after = await stateOf('/measure')
  expect(after).not.toEqual(before)

  for (const number of callsToTry(calls)) {
    const folder = `/fault-${number}`
    await prepare(storage, folder)
    fault.arm(number)
    expect((await run(storage, folder)).status).toBe(503)
    expect(await stateOf(folder)).toEqual(before)
    expect(storage.leftovers()).toBe(0)
    expect((await run(storage, folder)).status).toBe(200)
    expect(await stateOf(folder)).toEqual(after)
  }
})
