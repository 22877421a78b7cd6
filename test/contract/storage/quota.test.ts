import { describe, expect, test } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { storageHands } from './hands.ts'
import { limited } from './limited.ts'

const refused = [400, 104005]
const bytes = (count: number) => 'x'.repeat(count)

describe.each(storageHands)('The quota of a site: $name', ({ open }) => {
  const start = (quota: number) => limited(open, quota)

  test('64 concurrent uploads fill the quota exactly, never beyond it (S-121)', async () => {
    const { put, used, bytes: stored } = await start(405)
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => put(`/${index}.txt`, bytes(10))))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40)
    expect(answers.filter(({ status }) => status !== 200).map(statusAndCode)).toEqual(Array(24).fill(refused))
    expect([await used(), await stored()]).toEqual([400, 400])
  })

  test('64 uploads of several sizes to the same paths never exceed the quota (S-121)', async () => {
    const { put, used, bytes: stored } = await start(200)
    for (let index = 0; index < 8; index++) await put(`/${index}.txt`, bytes(20))
    const sizes = [1, 30, 7, 13, 2]
    const uploads = Array.from({ length: 64 }, (_, index) => put(`/${index % 8}.txt`, bytes(sizes[index % 5] ?? 0)))
    for (const answer of await Promise.all(uploads)) {
      expect(answer.status === 200 ? [] : statusAndCode(answer)).toBeOneOf([[], refused])
    }
    expect(await stored()).toBeLessThanOrEqual((await used()) ?? 0)
    expect(await used()).toBeLessThanOrEqual(200)
  })
})
