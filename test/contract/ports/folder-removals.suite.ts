import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SiteId } from '../../../lib/ids.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import type { Stores } from '../../../lib/stores.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'
import { oddNames } from './odd-names.ts'

type Tested = Pick<Stores, 'removals'>

/** What every store of folder removals does, whatever it is made of. */
export const describeFolderRemovals = ({ name, open }: Hand<Tested>): void => {
  describe(`the removals of folders: ${name}`, () => {
    let hand: OpenedHand<Tested>
    let removals: Tested['removals']
    beforeAll(async () => {
      hand = await open()
      removals = hand.stores.removals
    })
    afterAll(() => hand.close())

    /** Each test has a site for itself. */
    let lastSite = 0
    let site: SiteId
    beforeEach(() => {
      lastSite += 1
      site = lastSite as SiteId
    })

    const folder = toStoragePath('photos/2026')
    const other = toStoragePath('photos/2025')

    test('are seen as soon as they are open, by every connection', async () => {
      expect(await removals.open(site, folder, 'one', entry)).toBe('one')
      expect(await removals.openOf(site, [other, folder])).toEqual([{ path: folder, id: 'one' }])
      expect(await hand.connect().removals.openOf(site, [folder])).toEqual([{ path: folder, id: 'one' }])
    })

    test('are those of one folder of one site', async () => {
      await removals.open(site, folder, 'one', entry)
      expect(await removals.openOf(site, [other, toStoragePath('photos')])).toEqual([])
      expect(await removals.openOf(site, [])).toEqual([])
      expect(await removals.openOf((site + 1_000) as SiteId, [folder])).toEqual([])
    })

    test('are one for each folder: who comes second joins the first', async () => {
      await removals.open(site, folder, 'one', entry)
      expect(await removals.open(site, folder, 'two', entry)).toBe('one')
      const ids = await Promise.all(['a', 'b', 'c'].map((id) => removals.open(site, other, id, entry)))
      expect(new Set(ids).size).toBe(1)
    })

    test('are closed by their id, and may be opened anew', async () => {
      await removals.open(site, folder, 'one', entry)
      await removals.close(site, folder, 'another')
      expect(await removals.openOf(site, [folder])).toHaveLength(1)
      await removals.close(site, folder, 'one')
      expect(await removals.openOf(site, [folder])).toEqual([])
      expect(await removals.open(site, folder, 'two', entry)).toBe('two')
      await removals.close(site, folder, 'one')
      expect(await removals.openOf(site, [folder])).toEqual([{ path: folder, id: 'two' }])
    })

    test('may be closed without having been open', async () => {
      await removals.close(site, folder, 'one')
      expect(await removals.openOf(site, [folder])).toEqual([])
    })

    test('are found for many folders', async () => {
      const folders = Array.from({ length: 250 }, (_, index) => toStoragePath(`many/${index}`))
      for (const each of folders.slice(0, 3)) await removals.open(site, each, 'one', entry)
      expect(await removals.openOf(site, folders)).toHaveLength(3)
    })

    test('are found below a folder while they are open', async () => {
      const below = (path: string) => removals.isOpenBelow(site, path === '' ? root : toStoragePath(path))
      await removals.open(site, folder, 'one', entry)
      expect(await Promise.all(['', 'photos', 'photos/2026', 'photos/2', 'pho'].map(below))).toEqual([
        true,
        true,
        false,
        false,
        false,
      ])
      await removals.close(site, folder, 'one')
      expect(await below('photos')).toBe(false)
    })

    test.each(oddNames)('keep to a folder called %j', async (odd) => {
      const outer = toStoragePath(odd)
      const inner = toStoragePath(`${odd}/${odd}`)
      await removals.open(site, inner, 'one', entry)
      expect(await removals.openOf(site, [outer, inner])).toEqual([{ path: inner, id: 'one' }])
      expect(await removals.isOpenBelow(site, outer)).toBe(true)
      expect(await removals.isOpenBelow(site, root)).toBe(true)
    })
  })
}
