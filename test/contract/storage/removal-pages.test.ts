import { expect, it } from 'vitest'
import { unlimited } from '../../../lib/core/deadline.ts'
import { continueRemoval } from '../../../lib/storage/continue-removal.ts'
import { callsToTry } from '../../support/each-call.ts'
import { createFault } from './failing-stores.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

/** Objects that one call lists or deletes. */
const pageSize = 1_000

/** Promises by name. Other code resolves them. */
const createGates = () => {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  return (name: string): PromiseWithResolvers<void> => {
    const gate = gates.get(name) ?? Promise.withResolvers<void>()
    gates.set(name, gate)
    return gate
  }
}

it('The removal of a folder lists the next page while it deletes the current page', async () => {
  const asked = createGates()
  const begun = createGates()
  let removed = 0
  const storage: StorageUnderTest = await openStorage({
    between: ({ files }) => ({
      files: {
        ...files,
        // Code that makes these calls one after the other would wait forever. A page is identified by its last key.
        async list(query) {
          // The request itself lists two pages before it opens the removal.
          if (query.after !== undefined && storage.sent.length > 0) {
            asked(query.after).resolve()
            await begun(query.after).promise
          }
          return files.list(query)
        },
        async remove(objects, ...given) {
          const last = objects.at(-1)?.key ?? ''
          begun(last).resolve()
          if (objects.length === pageSize) await asked(last).promise
          removed += objects.length
          return files.remove(objects, ...given)
        },
      },
    }),
  })
  const keys = await fillFolder(storage, '/large', 3 * pageSize)
  expect((await storage.remove('/large')).status).toBe(200)
  expect(removed).toBe(keys.length)
  expect(await storage.keys()).toEqual([])
  await storage.close()
})

it('Removing a large folder can be completed after any failed call', async () => {
  const fault = createFault()
  const storage = await openStorage(fault)
  const remove = async (folder: string) => (await storage.remove(folder)).status
  await fillFolder(storage, '/measure', 2 * pageSize)
  fault.arm(0)
  expect(await remove('/measure')).toBe(200)
  const { calls } = fault
  expect(calls).toBeGreaterThan(10)

  for (const number of callsToTry(calls)) {
    const folder = `/fault-${number}`
    await fillFolder(storage, folder, 2 * pageSize)
    fault.arm(number)
    expect(await remove(folder)).toBe(503)
    // The message is sent before the first deletion, so the queue can complete the removal alone.
    for (const message of storage.sent) await continueRemoval(storage.deps, message, unlimited, 60_000)
    const isGone = (await storage.keys()).length === 0
    expect(await remove(folder)).toBe(isGone ? 404 : 200)
    expect(await storage.keys()).toEqual([])
    expect((await storage.makeFolder(folder)).status).toBe(200)
    expect(await remove(folder)).toBe(200)
  }
  await storage.close()
})
