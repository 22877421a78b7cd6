import { expect, vi } from 'vitest'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { entry } from '../../support/history.ts'
import { keptContents } from '../../support/kept-contents.ts'
import { openLocalFiles } from '../../support/local-files.ts'
import { nowhere, putObject } from '../../support/objects.ts'
import { test as base } from '../../support/test.ts'

const day = 24 * 3600 * 1000

const test = base.extend('store', async ({ directory }, { onCleanup }) => {
  const clock = { time: Date.UTC(2026, 0, 1) }
  const opened = openLocalFiles(directory, { now: () => clock.time })
  onCleanup(() => opened.close())
  const { files } = opened
  return {
    clock,
    files,
    database: opened.database,
    put: (key: string, size: number) => putObject(files, key, Buffer.alloc(size, 'x')),
    async remove(key: string) {
      const found = await files.find(key)
      if (found) await files.remove([found], { entry })
    },
    addOld: (count: number, key: string, removed: string) =>
      opened.database.connection.exec(`INSERT INTO old_objects (key, version, size, modified, type, gone, removed)
        WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
        SELECT ${key}, 'v', 0, 0, '', n * 1000, ${removed} FROM numbers`),
    versions: async (key: string) => (await files.versions(key, { limit: 100 }))?.versions.length,
    kept: () => keptContents(layoutOf(directory)),
  }
})

for (const [what, size] of [
  ['small', 100],
  ['large', 40_000],
] as const) {
  test(`expired old versions are removed with their bytes: ${what} files`, async ({ store }) => {
    await store.put('live/1/replaced', size)
    await store.put('live/1/replaced', size)
    await store.put('live/1/removed', size)
    await store.remove('live/1/removed')
    store.clock.time += 2 * day
    await store.put('live/1/younger', size)
    await store.remove('live/1/younger')
    expect(store.kept().kept).toHaveLength(4)

    await store.files.giveUp(store.clock.time - day)
    expect(await store.versions('live/1/replaced')).toBe(1)
    expect(await store.versions('live/1/removed')).toBe(0)
    expect(await store.versions('live/1/younger')).toBe(1)
    expect(store.kept()).toMatchObject({ kept: { length: 2 }, leftovers: [] })
    expect((await store.files.listRemoved({ prefix: 'live/1/', limit: 10 })).entries).toMatchObject([
      { key: 'live/1/younger' },
    ])
  })

  test(`a store that stops during the removal leaves no bytes (H-14): ${what} files`, async ({ store }) => {
    await store.put('live/1/removed', size)
    await store.remove('live/1/removed')
    store.clock.time += 2 * day
    const givingUp = store.files.giveUp(store.clock.time - day)
    await store.files.stop()
    expect(store.kept()).toMatchObject({ kept: [], leftovers: [] })
    await givingUp
  })

  test(`a purge removes the bytes, except those that a copy uses (H-30): ${what} files`, async ({ store }) => {
    for (const name of ['a', 'copied']) await store.put(`live/1/${name}`, size)
    const from = await store.files.find('live/1/copied')
    if (!from) throw new Error('There is nothing to copy')
    await store.files.place([{ kind: 'copy', from, key: 'live/1/copy' }], nowhere, entry)
    for (const name of ['a', 'copied']) {
      const key = `live/1/${name}`
      await store.remove(key)
      const { versions = [] } = (await store.files.versions(key, { limit: 10 })) ?? {}
      const purged = versions.map((version) => ({ ...version, key }))
      for (let repeated = 0; repeated < 2; repeated++) await store.files.purge(purged, entry)
      expect(await store.versions(key)).toBe(0)
    }
    const read = await store.files.read('live/1/copy', () => ({ first: 0, last: 9 }))
    expect(read?.body).toBeDefined()
    expect(store.kept()).toMatchObject({ kept: { length: 1 }, leftovers: [] })
  })
}

test('any number of old versions can expire at once, and other files stay', async ({ store }) => {
  for (let index = 0; index < 450; index++) await store.put(`live/1/f${index}`, 10)
  const { objects } = await store.files.list({ prefix: 'live/1/', folded: false, limit: 1_000 })
  await store.files.remove(objects, { entry })
  await store.put('live/1/stays', 10)
  store.clock.time += 31 * day
  await store.files.giveUp(store.clock.time - 30 * day)
  expect(await store.files.keptBelow('live/1/')).toEqual({ count: 0, bytes: 0 })
  expect(store.kept()).toMatchObject({ kept: { length: 1 }, leftovers: [] })
})

test('a removed file whose newest versions are purged is as before them (H-30)', async ({ store }) => {
  const removed = async () => (await store.files.listRemoved({ prefix: 'live/1/', limit: 10 })).entries
  for (const size of [1, 2]) await store.put('live/1/a', size)
  await store.remove('live/1/a')
  const [{ removedAt = 0 } = {}] = await removed()
  store.clock.time += day
  await store.put('live/1/a', 3)
  await store.remove('live/1/a')
  const { versions = [] } = (await store.files.versions('live/1/a', { limit: 3 })) ?? {}
  expect(versions.map(({ isRemoved }) => isRemoved)).toEqual([true, true, false])
  const purged = versions.slice(0, 2).map((version) => ({ ...version, key: 'live/1/a' }))
  expect(await store.files.purge(purged, entry)).toBe(0)
  expect(await removed()).toEqual([{ key: 'live/1/a', size: 1, removedAt }])
})

test('removed files are found without a read of all old versions', async ({ store }) => {
  store.addOld(25_000, "printf('live/1/%05d', n)", 'n % 9000 = 1')
  const read = vi.spyOn(store.database, 'read')
  const { entries } = await store.files.listRemoved({ prefix: 'live/1/', limit: 10 })
  expect(entries.map(({ key }) => key)).toEqual(['live/1/00001', 'live/1/09001', 'live/1/18001'])
  expect(read).toHaveBeenCalledTimes(3)
})

test('the last removal in a folder is found in its first 10,000 old versions', async ({ store }) => {
  const keys = "CASE n WHEN 10001 THEN 'many/b' WHEN 10002 THEN 'few/a' WHEN 10003 THEN 'few/b' ELSE 'many/a' END"
  store.addOld(10_004, `'live/1/' || ${keys}`, 'n >= 10000')
  const { entries } = await store.files.listRemoved({ prefix: 'live/1/', limit: 10 })
  expect(entries).toEqual([
    { key: 'live/1/few/', removedAt: 10_003, size: null },
    { key: 'live/1/many/', removedAt: 10_000, size: null },
  ])
})

test('versions keep their order when the clock is set back', async ({ store }) => {
  await store.put('live/1/a', 1)
  store.clock.time -= 10 * day
  await store.put('live/1/a', 2)
  store.clock.time -= 10 * day
  await store.put('live/1/a', 3)
  const page = await store.files.versions('live/1/a', { limit: 10 })
  expect(page?.versions.map(({ size }) => size)).toEqual([3, 2, 1])
})
