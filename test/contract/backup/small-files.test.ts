import { join } from 'node:path'
import { expect } from 'vitest'
import { backUp, faultsOf, put, read, restore, tamper, test } from '../../support/backups.ts'
import { messages, phrase } from '../../support/messages.ts'

/** Accepts damage. Small files are checked even without `withBytes`, because they are in the database. */
const even = { evenIfDamaged: true }

const become = (bytes: string) =>
  `UPDATE small_contents SET bytes = CAST('${bytes}' AS BLOB) WHERE bytes = CAST('small' AS BLOB)`

test.for([
  ['has other bytes', 'smalL', messages.check.bytesDiffer],
  ['is short', 'sma', messages.check.size(3, 5)],
] as const)(
  'backup and restore refuse a small file that %s unless damage is accepted',
  async ([, bytes, fault], { backedUp: { data, folder, backup, restored } }) => {
    const [target, other] = [join(folder, 'again'), join(folder, 'other')]
    tamper(data, become(bytes))
    const row = `${join(data, 'site-admin.db')}, ${fault}`
    await expect(backUp(data, target)).rejects.toThrow(phrase`^A file or row is damaged: … in ${row}. `)
    expect(await backUp(data, target, even)).toMatchObject({ damaged: 1, damagedEarlier: 0, damagedUploads: 0 })
    await expect(restore(target, restored)).rejects.toThrow(messages.backup.some(1, fault))
    expect(await restore(target, restored, even)).toMatchObject({ damaged: 1 })
    expect(await faultsOf(restored)).toMatchObject([{ where: 'site 1001, file small.txt' }])

    tamper(backup, become(bytes))
    await expect(restore(backup, other)).rejects.toThrow(`${join(backup, 'site-admin.db')}: ${fault}. Name`)
  },
)

test('a damaged old version of a small file is counted', async ({ backedUp: { data, folder, restored }, serve }) => {
  const service = await serve(data)
  await put(service, 'small.txt', 'newer')
  await service.stop()
  tamper(data, become('smalL'))
  const target = join(folder, 'again')
  expect(await backUp(data, target)).toMatchObject({ damaged: 0, damagedEarlier: 1 })
  expect(await restore(target, restored)).toMatchObject({ damaged: 0, damagedEarlier: 1 })
  expect(String(await read(await serve(restored), 'small.txt'))).toBe('newer')
})

test('a backup that is stopped while comparing small files leaves nothing', async ({ backedUp: { data, folder } }) => {
  tamper(
    data,
    `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1000)
     INSERT INTO objects SELECT 'live/1001/many/' || number, printf('%032x', number), 1, 0, 'text/plain', 'v', '0cc175b9c0f1b6a831c399e269772661' FROM numbers;
     INSERT INTO small_contents SELECT blob, CAST('a' AS BLOB) FROM objects WHERE key LIKE 'live/1001/many/%'`,
  )
  const target = join(folder, 'again')
  expect(await backUp(data, target)).toMatchObject({ damaged: 0 })
  const ending = new AbortController()
  let asked = 0
  const signal = Object.create(ending.signal, {
    throwIfAborted: {
      value: () => {
        asked += 1
        if (asked > 3) throw new Error('It was ended')
      },
    },
  })
  await expect(backUp(data, join(folder, 'third'), { ...even, signal })).rejects.toThrow('It was ended')
  expect(asked).toBe(4)
})
