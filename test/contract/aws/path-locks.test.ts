import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPathLocks, type PathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import { entry } from '../../support/history.ts'
import { loseAnswer } from '../../support/store-faults.ts'
import { openTestTables, type TestTables } from '../../support/tables.ts'

describe('the locks of paths in DynamoDB', () => {
  let tables: TestTables
  let locks: PathLocks
  let removals: PathLocks['removals']
  let dynamodb: DynamoDBDocumentClient
  const recorded: HistoryEntry[] = []
  let time = Date.UTC(2026, 0, 1)
  beforeAll(async () => {
    tables = await openTestTables()
  })
  afterAll(() => tables.close())

  let lastSite = 0
  let site: SiteId
  beforeEach(() => {
    lastSite += 1
    site = lastSite as SiteId
    const { pathLocks: table } = tables.names
    dynamodb = tables.connect()
    const record = async (one: HistoryEntry) => void recorded.push(one)
    locks = createPathLocks({ dynamodb, table, record, now: () => time })
    removals = locks.removals
  })
  const folder = toStoragePath('photos/2026')
  const below = toStoragePath('photos/2026/may')

  describe('a folder that is held while it is restored', () => {
    test('is going for whoever puts something there, and not for its holder', async () => {
      expect(await removals.hold(site, folder, 'mine', 60_000)).toBe(true)
      expect(await removals.look(site, [folder, below])).toMatchObject({ isRemoving: true })
      expect(await removals.look(site, [folder, below], 'mine')).toMatchObject({ isRemoving: false })
      expect(await removals.openOf(site, [folder])).toMatchObject([{ id: 'mine', isHold: true }])
      expect(await removals.isOpenBelow(site, root)).toBe(true)
    })

    test('is seen by whoever has looked before, and looks again', async () => {
      const watch = await removals.look(site, [folder])
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
      expect(await removals.look(site, [folder])).toMatchObject({ isRemoving: false })
      expect(await removals.hold(site, folder, 'other', 60_000)).toBe(true)
    })

    test('is free again when its holder has died', async () => {
      await removals.hold(site, folder, 'mine', 60_000)
      time += 60_000
      expect(await removals.look(site, [folder])).toMatchObject({ isRemoving: false })
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

  test('the removal of a folder is told once, though the answer to its end was lost and the call repeated', async () => {
    recorded.length = 0
    await removals.open(site, folder, 'removal', entry)
    loseAnswer(dynamodb, 'UpdateItemCommand')
    await removals.close(site, folder, 'removal', 3)
    await removals.close(site, folder, 'removal', 0)
    expect(recorded).toMatchObject([{ details: { count: 3 } }])
    expect(await removals.lastOf(site, [folder])).toHaveLength(1)
  })

  test('the start of a workflow is told once, though its answer was lost and the call repeated', async () => {
    recorded.length = 0
    loseAnswer(dynamodb, 'PutItemCommand')
    await locks.workflows.start(site, below, entry)
    await locks.workflows.start(site, below, entry)
    expect(recorded).toHaveLength(1)
  })

  test('what went before a removal failed belongs to the removal that comes to its end', async () => {
    await removals.note(site, folder, { from: 1_000, to: 2_000 })
    await removals.note(site, folder, { from: 3_000, to: 4_000 }, true)
    await removals.note(site, folder, { from: 5_000, to: 6_000 }, true)
    expect(await removals.lastOf(site, [folder])).toEqual([{ from: 3_000, to: 6_000 }])
    await removals.note(site, folder, { from: 7_000, to: 8_000 })
    expect(await removals.lastOf(site, [folder])).toEqual([{ from: 3_000, to: 8_000 }])
    await removals.note(site, folder, { from: 9_000, to: 9_500 })
    expect(await removals.lastOf(site, [folder])).toEqual([{ from: 9_000, to: 9_500 }])
  })
})
