import { expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { root, type StoragePath, toStoragePath } from '../../../lib/storage/path.ts'
import { longestSilence } from '../../../lib/storage/path-locks.ts'
import { describeOn, entry, handsOfPorts, ownSite as site } from '../../support/hands.ts'

let time = Date.UTC(2026, 0, 1)
const clock = { wall: () => time, monotonic: () => time }

const folder = toStoragePath('photos/2026')
const other = toStoragePath('photos/2025')
const taskOf = (id: string) => ({ site, path: folder, id })

describeOn({ kinds: handsOfPorts, subject: 'periods of removals', clock }, ({ stores: { removals }, connect }) => {
  test('a folder has one removal: a second request joins the first removal', async () => {
    await removals.open(site, folder, 'one', entry)
    expect(await removals.open(site, folder, 'two', entry)).toBe('one')
    const ids = await Promise.all(['a', 'b', 'c'].map((id) => removals.open(site, other, id, entry)))
    expect(new Set(ids).size).toBe(1)
  })

  test('a removal is closed only by its own id, and then another one may begin', async () => {
    await removals.open(site, folder, 'one', entry)
    await removals.close(site, folder, 'another', 0)
    expect((await removals.locksOf(site, [folder])).open).toHaveLength(1)
    await removals.close(site, folder, 'one', 0)
    expect((await removals.locksOf(site, [folder])).open).toEqual([])
    expect(await removals.open(site, folder, 'two', entry)).toBe('two')
    await removals.close(site, folder, 'one', 0)
    expect((await removals.locksOf(site, [folder])).open).toMatchObject([{ path: folder, id: 'two' }])
  })

  test('the times of the last removal of each folder are kept for 30 days', async () => {
    expect(await removals.lastOf(site, [folder])).toEqual([])
    await removals.open(site, folder, 'one', entry)
    time += 5_000
    expect(await removals.lastOf(site, [folder])).toEqual([])
    await removals.close(site, folder, 'one', 3)
    expect(await removals.lastOf(site, [folder])).toEqual([{ from: time - 5_000, to: time }])
    await removals.close(site, folder, 'one', 0)
    const remove = async (which: StoragePath) => {
      time += 1_000
      const from = time
      await removals.open(site, which, 'next', entry)
      time += 1_000
      await removals.close(site, which, 'next', 1)
      return { from, to: time }
    }
    const period = await remove(folder)
    expect(await connect().removals.lastOf(site, [folder])).toEqual([period])
    time += 28 * 24 * 3_600_000
    const later = await remove(other)
    expect(await removals.lastOf(site, [folder, other, toStoragePath('third')])).toEqual([later, period])
    expect(await removals.lastOf((site + 1_000) as SiteId, [folder])).toEqual([])
    expect((await removals.locksOf(site, [folder])).open).toEqual([])
    expect(await removals.isOpenBelow(site, root)).toBe(false)
  })

  test('a request without time left opens no removal', async () => {
    const late = createDeadline(() => 0)
    await expect(removals.open(site, folder, 'one', entry, late)).rejects.toMatchObject({ code: 100503 })
    expect((await removals.locksOf(site, [folder])).open).toEqual([])
  })
})

describeOn({ kinds: handsOfPorts, subject: 'workers of removals', clock }, ({ stores: { removals } }) => {
  test('a removal has one worker at a time, until this worker releases the removal', async () => {
    await removals.open(site, folder, 'one', entry)
    const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => removals.take(taskOf('one'), name, 90_000)))
    expect(outcomes.filter(({ outcome }) => outcome === 'taken')).toHaveLength(1)
    const holder = ['a', 'b', 'c'][outcomes.findIndex(({ outcome }) => outcome === 'taken')] ?? ''
    const held = { outcome: 'held', holder, left: 90_000 }
    expect(outcomes.filter(({ outcome }) => outcome === 'held')).toEqual([held, held])
    await removals.giveBack(taskOf('one'), 'somebody else', 0)
    expect(await removals.take(taskOf('one'), 'next', 90_000)).toEqual(held)
    await removals.giveBack(taskOf('one'), holder, 0)
    expect(await removals.take(taskOf('one'), 'next', 90_000)).toEqual({ outcome: 'taken' })
  })

  test('a removal can be taken over when the lease of a dead worker has ended', async () => {
    await removals.open(site, folder, 'one', entry)
    await removals.take(taskOf('one'), 'dead', 90_000)
    time += 60_000
    const held = { outcome: 'held', holder: 'dead', left: 30_000 }
    expect(await removals.take(taskOf('one'), 'next', 90_000)).toEqual(held)
    time += 30_000
    expect(await removals.take(taskOf('one'), 'next', 90_000)).toEqual({ outcome: 'taken' })
    // If the worker was only slow, it cannot release the removal after its lease has ended.
    await removals.giveBack(taskOf('one'), 'dead', 0)
    expect(await removals.take(taskOf('one'), 'another', 90_000)).toMatchObject({ outcome: 'held', holder: 'next' })
  })

  test('a worker gets the open removal of a folder, and no other one', async () => {
    const over = { outcome: 'gone' }
    expect(await removals.take(taskOf('one'), 'a', 90_000)).toEqual(over)
    await removals.open(site, folder, 'one', entry)
    expect(await removals.take(taskOf('another'), 'a', 90_000)).toEqual(over)
    await removals.take(taskOf('one'), 'a', 90_000)
    await removals.close(site, folder, 'one', 0)
    await removals.giveBack(taskOf('one'), 'a', 0)
    expect(await removals.take(taskOf('one'), 'b', 90_000)).toEqual(over)
    await removals.open(site, folder, 'two', entry)
    expect(await removals.take(taskOf('one'), 'b', 90_000)).toEqual(over)
    expect(await removals.take(taskOf('two'), 'b', 90_000)).toEqual({ outcome: 'taken' })
  })

  test('a removal counts as active until its worker is silent for too long', async () => {
    const isActiveAfter = async (milliseconds: number) => {
      time += milliseconds
      return (await removals.locksOf(site, [folder])).open.map(({ hasWorker }) => hasWorker)
    }
    await removals.open(site, folder, 'one', entry)
    expect(await isActiveAfter(longestSilence - 1)).toEqual([true])
    await removals.take(taskOf('one'), 'a', 90_000)
    expect(await isActiveAfter(longestSilence - 1)).toEqual([true])
    await removals.giveBack(taskOf('one'), 'a', 0)
    expect(await isActiveAfter(longestSilence - 1)).toEqual([true])
    expect(await isActiveAfter(1)).toEqual([false])
  })
})

describeOn({ kinds: handsOfPorts, subject: 'the search for removals', clock }, ({ stores: { removals } }) => {
  test('open removals are found for many folders at once', async () => {
    const folders = Array.from({ length: 250 }, (_, index) => toStoragePath(`many/${index}`))
    for (const each of folders.slice(0, 3)) await removals.open(site, each, 'one', entry)
    expect((await removals.locksOf(site, folders)).open).toHaveLength(3)
  })

  test('open removals are found below a folder', async () => {
    const below = (path: string) => removals.isOpenBelow(site, path === '' ? root : toStoragePath(path))
    await removals.open(site, folder, 'one', entry)
    const found = await Promise.all(['', 'photos', 'photos/2026', 'photos/2', 'pho'].map(below))
    expect(found).toEqual([true, true, false, false, false])
    expect(await removals.isOpenBelow((site + 1_000) as SiteId, root)).toBe(false)
    await removals.close(site, folder, 'one', 0)
    expect(await below('photos')).toBe(false)
  })

  test('a lock on a path that ends in # is not below this path', async () => {
    const path = toStoragePath('photos/c#')
    for (const locked of [path, toStoragePath('photos/c#2')]) await removals.open(site, locked, 'one', entry)
    expect(await removals.isOpenBelow(site, path)).toBe(false)
  })
})
