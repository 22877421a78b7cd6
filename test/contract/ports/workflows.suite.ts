import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'
import { oddNames } from './odd-names.ts'

type Tested = Pick<Stores, 'workflows'>

/** What every store of running workflows does, whatever it is made of. */
export const describeWorkflows = ({ name, open }: Hand<Tested>): void => {
  describe(`the running workflows of pages: ${name}`, () => {
    let hand: OpenedHand<Tested>
    let workflows: Tested['workflows']
    beforeAll(async () => {
      hand = await open()
      workflows = hand.stores.workflows
    })
    afterAll(() => hand.close())

    /** Each test has a site for itself. */
    let lastSite = 0
    let site: SiteId
    beforeEach(() => {
      lastSite += 1
      site = lastSite as SiteId
    })

    const page = toStoragePath('news/today.html')
    const other = toStoragePath('news/other.html')

    test('are seen as soon as they are started, by every connection', async () => {
      expect(await workflows.isRunning(site, [page])).toBe(false)
      await workflows.start(site, page, entry)
      expect(await workflows.isRunning(site, [page])).toBe(true)
      expect(await hand.connect().workflows.isRunning(site, [other, page])).toBe(true)
    })

    test('are those of one page of one site', async () => {
      await workflows.start(site, page, entry)
      expect(await workflows.isRunning(site, [other])).toBe(false)
      expect(await workflows.isRunning(site, [])).toBe(false)
      expect(await workflows.isRunning((site + 1_000) as SiteId, [page])).toBe(false)
    })

    test('end once, however often they were started', async () => {
      await workflows.start(site, page, entry)
      await workflows.start(site, page, entry)
      expect(await workflows.end(site, page, entry)).toBe(true)
      expect(await workflows.end(site, page, entry)).toBe(false)
      expect(await workflows.isRunning(site, [page])).toBe(false)
    })

    test('are found among many pages', async () => {
      const pages = Array.from({ length: 250 }, (_, index) => toStoragePath(`many/${index}.html`))
      await workflows.start(site, toStoragePath('many/249.html'), entry)
      expect(await workflows.isRunning(site, pages)).toBe(true)
      expect(await workflows.isRunning(site, pages.slice(0, 249))).toBe(false)
    })

    test('are found below the folders that they are in, at any depth, and below no other', async () => {
      await workflows.start(site, toStoragePath('a/b/c/page.html'), entry)
      const below = (path: string) => workflows.isRunningBelow(site, path === '' ? root : toStoragePath(path))
      expect(await Promise.all(['', 'a', 'a/b', 'a/b/c'].map(below))).toEqual([true, true, true, true])
      const elsewhere = ['b', 'a/b/c/page.html', 'a/b/c/page', 'a/b/c/d', 'a/b-', 'a/b0', 'a/']
      expect(await Promise.all(elsewhere.map(below))).toEqual([false, false, false, false, false, false, true])
      expect(await workflows.isRunningBelow((site + 1_000) as SiteId, root)).toBe(false)
      await workflows.start(site, toStoragePath('x/bc/page.html'), entry)
      expect(await below('x/b')).toBe(false)
    })

    test.each(oddNames)('keep to a page and a folder called %j', async (odd) => {
      const folder = toStoragePath(odd)
      const inside = toStoragePath(`${odd}/${odd}`)
      await workflows.start(site, inside, entry)
      expect(await workflows.isRunning(site, [inside])).toBe(true)
      expect(await workflows.isRunningBelow(site, folder)).toBe(true)
      expect(await workflows.isRunningBelow(site, root)).toBe(true)
      expect(await workflows.isRunning(site, [folder])).toBe(false)
      expect(await workflows.end(site, inside, entry)).toBe(true)
      expect(await workflows.isRunningBelow(site, root)).toBe(false)
    })
  })
}
