import { describe, expect, test } from 'vitest'
import { type Answer, statusAndCode } from '../../support/answer.ts'
import { storageHands } from './hands.ts'
import { type Limited, limited } from './limited.ts'

const refused = [400, 104005]
const bytes = (count: number) => 'x'.repeat(count)

describe.each(storageHands)('The quota of a site: $name', ({ open }) => {
  const start = (quota: number) => limited(open, quota)

  type Change = (storage: Limited) => Promise<Answer>
  const firstUpload = ({ uploads }: Limited) => [...uploads.keys()][0] ?? ''

  // Before each change, 97 bytes of the quota of 100 are in use.
  test.each<readonly [name: string, change: Change]>([
    ['PUT of a file', ({ put }) => put('/new.txt', 'four')],
    ['PUT of a draft', ({ put }) => put('/page.html', 'four', { version: 'draft' })],
    ['PUT of a larger file', ({ put }) => put('/f/30.txt', bytes(34))],
    [
      'POST of two files',
      ({ post }) =>
        post(
          '/new',
          ['a', 'b'].map((name) => ({ name, content: 'xx' })),
        ),
    ],
    ['a copy of a file', ({ relocate }) => relocate('/f/30.txt', { copyTo: '/copy.txt' })],
    ['a copy of a folder', ({ relocate }) => relocate('/f', { copyTo: '/copy' })],
    ['a restored file', ({ restore }) => restore('/gone.txt')],
    ['a restored folder', ({ restore }) => restore('/gone')],
    ['an upload', ({ create }) => create('new.txt', 4)],
    ['an append to an upload without a length', (storage) => storage.append(firstUpload(storage), 'four')],
    ['a length that is declared late', (storage) => storage.append(firstUpload(storage), 'x', 99)],
  ])('%s beyond the quota is refused and changes nothing (S-121)', async (_, change) => {
    const storage = await start(1_000)
    const { put, remove, create, append, keys, used, setQuota } = storage
    await put('/f/30.txt', bytes(30))
    await put('/gone.txt', 'gone')
    await put('/gone/a.txt', 'go')
    await put('/gone/b.txt', 'ne')
    await remove('/gone.txt')
    await remove('/gone')
    await create('deferred.txt', undefined)
    await append(firstUpload(storage), bytes(17))
    await create('known.txt', 50)
    expect(await used()).toBe(97)
    await setQuota(100)
    const before = await keys()
    expect(statusAndCode(await change(storage))).toEqual(refused)
    expect(await keys()).toEqual(before)
    expect(await used()).toBe(97)
    expect(await storage.bytes()).toBe(97)
  })

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
