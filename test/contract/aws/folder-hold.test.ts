import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPathLocks, type PathLocks } from '../../../lib/aws/path-locks.ts'
import type { SiteId } from '../../../lib/ids.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openTestTables, type TestTables } from '../../support/tables.ts'

describe('a folder that is held while it is restored', () => {
  let tables: TestTables
  let removals: PathLocks['removals']
  let time = Date.UTC(2026, 0, 1)
  beforeAll(async () => {
    tables = await openTestTables()
    const { pathLocks: table } = tables.names
    removals = createPathLocks({ dynamodb: tables.connect(), table, record: unrecorded, now: () => time }).removals
  })
  afterAll(() => tables.close())

  let lastSite = 0
  let site: SiteId
  beforeEach(() => {
    lastSite += 1
    site = lastSite as SiteId
  })
  const folder = toStoragePath('photos/2026')
  const below = toStoragePath('photos/2026/may')

  test('is going for whoever puts something there, and not for its holder', async () => {
    expect(await removals.hold(site, folder, 'mine', 60_000)).toBe(true)
    expect(await removals.watch(site, [folder, below])).toMatchObject({ isGoing: true })
    expect(await removals.watch(site, [folder, below], 'mine')).toMatchObject({ isGoing: false })
    expect(await removals.openOf(site, [folder])).toMatchObject([{ id: 'mine', isHold: true }])
    expect(await removals.isOpenBelow(site, root)).toBe(true)
  })

  test('is seen by whoever has looked before, and looks again', async () => {
    const watch = await removals.watch(site, [folder])
    await removals.hold(site, folder, 'mine', 60_000)
    await removals.release(site, folder, 'mine')
    expect(await watch.hasChanged()).toBe(true)
  })

  test('is held by one at a time, until it is let go of', async () => {
    expect(await removals.hold(site, folder, 'mine', 60_000)).toBe(true)
    expect(await removals.hold(site, folder, 'other', 60_000)).toBe(false)
    await removals.release(site, folder, 'other')
    expect(await removals.hold(site, folder, 'other', 60_000)).toBe(false)
    await removals.release(site, folder, 'mine')
    expect(await removals.watch(site, [folder])).toMatchObject({ isGoing: false })
    expect(await removals.hold(site, folder, 'other', 60_000)).toBe(true)
  })

  test('is free again when its holder has died', async () => {
    await removals.hold(site, folder, 'mine', 60_000)
    time += 60_000
    expect(await removals.watch(site, [folder])).toMatchObject({ isGoing: false })
    expect(await removals.openOf(site, [folder])).toEqual([])
    expect(await removals.isOpenBelow(site, root)).toBe(false)
    expect(await removals.open(site, folder, 'removal', entry)).toBe('removal')
  })

  test('is not removed meanwhile, and one that is being removed is not held', async () => {
    await removals.hold(site, folder, 'mine', 60_000)
    await expect(removals.open(site, folder, 'removal', entry)).rejects.toMatchObject({ code: 104010 })
    await removals.release(site, folder, 'mine')
    await removals.open(site, folder, 'removal', entry)
    expect(await removals.hold(site, folder, 'mine', 60_000)).toBe(false)
  })
})
