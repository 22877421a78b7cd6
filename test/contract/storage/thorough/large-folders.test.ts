import { expect, it } from 'vitest'
import { statusAndCode } from '../../../support/answer.ts'
import { timesToTry } from '../../../support/each-call.ts'
import { phrase } from '../../../support/messages.ts'
import { storageHands } from '../hands.ts'
import { fillFolder, openStorage } from '../service.ts'

it.each(storageHands)(
  'Thousands of objects are restored in one request: $name (H-21)',
  async ({ open }) => {
    const storage = await open()
    const keys = await fillFolder(storage, '/large', timesToTry(5_000))
    expect((await storage.remove('/large')).status).toBe(200)
    expect(await storage.keys()).toEqual([])
    expect(statusAndCode(await storage.restore('/large'))).toEqual([200, undefined])
    const found = await storage.keys()
    expect([found.length, found.toSorted()]).toEqual([keys.length, keys.toSorted()])
  },
  120_000,
)

// The rule is the same on AWS, and the store in memory would need minutes for so many objects.
it('More than 10,000 objects are refused, with the folders to restore (H-22)', async () => {
  const storage = await openStorage()
  await fillFolder(storage, '/large/one', 6_000)
  await fillFolder(storage, '/large/two', 4_500)
  expect((await storage.remove('/large')).status).toBe(200)
  const refused = await storage.restore('/large')
  expect(statusAndCode(refused)).toEqual([400, 104000])
  expect(refused.json.message).toMatch(phrase`more than 10000 … one, two. ?deleted lists them.$`)
  expect(statusAndCode(await storage.restore('/large/two'))).toEqual([200, undefined])
  expect(statusAndCode(await storage.restore('/large/one'))).toEqual([200, undefined])
  expect(await storage.keys()).toHaveLength(10_503)
}, 120_000)
