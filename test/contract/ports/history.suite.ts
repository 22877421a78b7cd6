import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDeadline } from '../../../lib/core/deadline.ts'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { CategoryId, SiteId, WebFormId } from '../../../lib/core/ids.ts'
import type { History } from '../../../lib/history/history.ts'
import { changesAfter, newestChanges } from '../../../lib/history/list-changes.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import type { Hand, OpenedHand } from '../../support/hands.ts'

type Tested = Pick<
  Stores,
  'sites' | 'grants' | 'webForms' | 'contents' | 'links' | 'workflows' | 'removals' | 'history'
>

/** Everything that a site has been through, without moments and positions. */
const told = async (history: History, site: SiteId): Promise<HistoryEntry[]> =>
  (await history.after(site, 0, 10_000)).map(({ at: _at, position: _position, ...entry }) => entry)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** What every hand writes down, and how it is read. */
export const describeHistory = ({ name, open }: Hand<Tested>): void => {
  describe(`the history of a site: ${name}`, () => {
    let hand: OpenedHand<Tested>
    let stores: Tested
    beforeAll(async () => {
      hand = await open()
      stores = hand.stores
    })
    afterAll(() => hand.close())

    /** Each test has a site for itself. */
    let lastSite = 0
    let site: SiteId
    beforeEach(() => {
      lastSite += 1
      site = lastSite as SiteId
    })

    const entryOf = (type: HistoryEntry['type'], subject: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
      site,
      type,
      subject,
      actor: 'ann',
      requestId: '0b8fb6f8-8a0e-4a0c-a1a5-6f0b8e4f8a7c',
      ...more,
    })
    const started = (subject: string, more: Partial<HistoryEntry> = {}, { workflows }: Tested = stores) =>
      workflows.start(site, toStoragePath(subject), entryOf('workflow.created', subject, more))

    test('is empty at first', async () => {
      expect(await stores.history.after(site, 0, 10)).toEqual([])
      expect(await stores.history.before(site, undefined, 10)).toEqual([])
    })

    test('tells what has happened in its order, as it was written, over any connection', async () => {
      const before = Date.now()
      const details = { names: ['ä "quoted".txt', '😀'], count: 2, draft: true, to: 'x\\y' }
      await started('one.html', { details })
      const ofCommand: HistoryEntry = { site, type: 'workflow.created', subject: 'two.html', actor: 'admin:root' }
      await stores.workflows.start(site, toStoragePath('two.html'), ofCommand)
      const changes = await hand.connect().history.after(site, 0, 10)
      expect(changes.map(({ at: _at, position: _position, ...entry }) => entry)).toEqual([
        entryOf('workflow.created', 'one.html', { details }),
        ofCommand,
      ])
      for (const { at } of changes) expect(at).toBeGreaterThanOrEqual(before)
      expect(changes[0]?.position).toBeLessThan(changes[1]?.position ?? 0)
    })

    test('is that of one site', async () => {
      await started('own.html')
      expect(await stores.history.after((site + 1_000) as SiteId, 0, 10)).toEqual([])
    })

    test('is read on from any entry, and back from any', async () => {
      for (const index of numbers(25)) await started(`${index}.html`)
      const all = await stores.history.after(site, 0, 100)
      expect(all.map(({ subject }) => subject)).toEqual(numbers(25).map((index) => `${index}.html`))
      for (const [index, { position }] of [...all.entries()].filter(([index]) => index % 6 < 2)) {
        expect(await stores.history.after(site, position, 7)).toEqual(all.slice(index + 1, index + 8))
        expect(await stores.history.before(site, position, 7)).toEqual(all.slice(Math.max(0, index - 7), index))
      }
      expect(await stores.history.before(site, undefined, 3)).toEqual(all.slice(-3))
    })

    test('holds long entries', async () => {
      const names = numbers(100).map((index) => `${index}`.padEnd(255, 'x'))
      const subject = numbers(3)
        .map(() => 'a'.repeat(250))
        .join('/')
      await started(`${subject}/a.html`, { details: { names } })
      await started('b.html')
      const [first, second] = await told(stores.history, site)
      expect(first).toMatchObject({ subject: `${subject}/a.html`, details: { names } })
      expect(second?.subject).toBe('b.html')
    })

    test('is read by pages that miss none and show none twice, while 16 write', async () => {
      const connections = [stores, hand.connect(), hand.connect(), hand.connect()]
      const each = hand.quickChanges > 1_000 ? 12 : 3
      let left = 16 * each
      let news = Promise.withResolvers<void>()
      const writers = numbers(16).map(async (writer) => {
        const own = connections[writer % connections.length] ?? stores
        for (const index of numbers(each)) {
          await started(`${writer}/${index}.html`, {}, own)
          left -= 1
          news.resolve()
        }
      })
      const { history } = hand.connect()
      const seen: string[] = []
      /** Reads on until there is nothing more. Answers where it has come to. */
      const readOn = async (from: number): Promise<number> => {
        const { changes, next } = await changesAfter(history, site, from, 10, { withFiles: true })
        seen.push(...changes.map(({ subject }) => subject))
        return next === undefined ? from : readOn(next)
      }
      const reading = (async () => {
        let position = 0
        while (left > 0) {
          news = Promise.withResolvers()
          position = await readOn(position)
          if (left > 0) await news.promise
        }
        await readOn(position)
      })()
      await Promise.all([...writers, reading])
      const written = numbers(16).flatMap((writer) => numbers(each).map((index) => `${writer}/${index}.html`))
      expect(seen.toSorted()).toEqual(written.toSorted())
      expect(seen).toEqual((await told(stores.history, site)).map(({ subject }) => subject))
    })

    test('is filtered by type, subject, actor and moment, and shows nothing of files to who may not use them', async () => {
      await started('a/page.html')
      const form = { site, id: 1 as WebFormId, name: 'Form', fields: [] }
      await stores.webForms.create(form, entryOf('form.created', 'form/1', { actor: 'bob' }))
      await stores.webForms.rename(site, form.id, 'Name', entryOf('form.changed', 'form/1'))
      const subjects = async (filter: Partial<Parameters<typeof newestChanges>[3]>) => {
        const wanted = { withFiles: true, ...filter }
        const { changes } = await newestChanges(stores.history, site, 10, wanted)
        expect((await changesAfter(stores.history, site, 0, 10, wanted)).changes).toEqual(changes)
        return changes.map(({ type }) => type)
      }
      expect(await subjects({})).toEqual(['workflow.created', 'form.created', 'form.changed'])
      expect(await subjects({ withFiles: false })).toEqual(['form.created', 'form.changed'])
      expect(await subjects({ types: ['form.changed', 'workflow.created'] })).toEqual([
        'workflow.created',
        'form.changed',
      ])
      expect(await subjects({ subject: 'a/' })).toEqual(['workflow.created'])
      expect(await subjects({ actor: 'bob' })).toEqual(['form.created'])
      expect(await subjects({ since: Date.now() + 1_000 })).toEqual([])
    })

    describe('gets an entry of each change, and of nothing else', () => {
      const form = 7 as WebFormId
      const category = 5 as CategoryId
      const list = () => ({ site, kind: 'news', category }) as const
      const object = () => ({ site, kind: 'news', id: 1 }) as const
      const grant = () => ({
        hash: `hash-${site}`,
        user: 'ann',
        sites: [site],
        permissions: [],
        expires: 2_000_000_000,
      })

      test('of web forms', async () => {
        const { webForms, history } = stores
        const made = { site, id: form, name: 'Form', fields: [] }
        const created = entryOf('form.created', 'form/7')
        const renamed = entryOf('form.changed', 'form/7')
        const changed = entryOf('field.created', 'form/7/field/-2')
        expect(await webForms.create(made, created)).toBe(true)
        expect(await webForms.create(made, entryOf('form.created', 'twice'))).toBe(false)
        await webForms.rename(site, form, 'Other', renamed)
        await expect(webForms.rename(site, 8 as WebFormId, 'Other', entryOf('form.changed', 'none'))).rejects.toThrow()
        await webForms.changeFields(site, form, () => [{ typeId: -2, mandatory: true, order: 1 }], changed)
        const refuse = () => {
          throw new Error('refused')
        }
        const refused = webForms.changeFields(site, form, refuse, entryOf('field.created', 'refused'))
        await expect(refused).rejects.toThrow('refused')
        const late = webForms.changeFields(
          site,
          form,
          () => [],
          entryOf('field.created', 'late'),
          createDeadline(() => 0),
        )
        await expect(late).rejects.toThrow()
        expect(await told(history, site)).toEqual([created, renamed, changed])
      })

      test('of categories, objects and links', async () => {
        const { contents, links, history } = stores
        const entries = {
          created: entryOf('category.created', 'category/5'),
          imported: entryOf('content.imported', 'news', { details: { count: 1 } }),
          linked: entryOf('link.added', 'category/5/news/1'),
          unlinked: entryOf('link.removed', 'category/5/news/1'),
          linkedBack: entryOf('link.added', 'news/1', { details: { count: 1, categories: [5] } }),
          unlinkedBack: entryOf('link.removed', 'news/1'),
          removed: entryOf('object.removed', 'news/1'),
          categoryRemoved: entryOf('category.removed', 'category/5'),
        }
        const none = entryOf('link.added', 'none')
        await contents.create(site, 'category', { id: category, name: 'Five' }, entries.created)
        await contents.create(site, 'category', { id: category, name: 'Five' }, none)
        await contents.putMany(site, 'news', [{ id: 1, body: 'text' }], entries.imported)
        await links.link(list(), new Map([[1, undefined]]), entries.linked)
        await links.link(list(), new Map([[1, true]]), none)
        await links.link(list(), new Map([[2, true]]), none)
        await links.unlink(list(), [1], entries.unlinked)
        await links.unlink({ ...list(), category: 6 as CategoryId }, [1], none)
        await links.linkObject(object(), new Map([[category, undefined]]), entries.linkedBack)
        await links.linkObject(object(), new Map([[category, undefined]]), none)
        await links.linkObject(object(), new Map([[6 as CategoryId, undefined]]), none)
        await links.unlinkObject(object(), [category], entries.unlinkedBack)
        await links.unlinkObject(object(), [6 as CategoryId], none)
        await contents.removeObject(object(), entries.removed)
        await contents.removeObject(object(), none)
        await contents.removeCategory(site, category, entries.categoryRemoved)
        await contents.removeCategory(site, category, none)
        expect(await told(history, site)).toEqual(Object.values(entries))
      })

      test('of sites, tokens and workflows', async () => {
        const { sites, grants, workflows, history } = stores
        const entries = {
          site: entryOf('site.created', `site/${site}`),
          issued: entryOf('token.created', 'token/abc', { details: { user: 'ann' } }),
          revoked: entryOf('token.removed', 'token/abc'),
          started: entryOf('workflow.created', 'a.html'),
          ended: entryOf('workflow.removed', 'a.html'),
        }
        const none = entryOf('site.created', 'none')
        const made = { id: site, name: 'Site', dataCentre: 'us', renderingEngine: true }
        await sites.createSite(made, entries.site)
        await sites.createSite(made, none)
        await grants.put(grant(), [entries.issued])
        await grants.remove(grant().hash, [entries.revoked])
        await grants.remove(grant().hash, [none])
        const page = toStoragePath('a.html')
        await workflows.start(site, page, entries.started)
        await workflows.start(site, page, none)
        await workflows.end(site, page, entries.ended)
        await workflows.end(site, page, none)
        expect(await told(history, site)).toEqual(Object.values(entries))
      })

      test('of the removal of a folder when it is over, with what all of its workers have removed (H-6)', async () => {
        const { removals, history } = stores
        const folder = toStoragePath('large')
        const removed = entryOf('folder.removed', folder)
        await removals.open(site, folder, 'one', removed)
        await removals.open(site, folder, 'two', entryOf('folder.removed', 'another'))
        const task = { site, path: folder, id: 'one' }
        await removals.take(task, 'worker', 60_000)
        await removals.giveBack(task, 'worker', 1_000)
        expect(await told(history, site)).toEqual([])
        await removals.take(task, 'worker', 60_000)
        await removals.close(site, folder, 'one', 234)
        await removals.close(site, folder, 'one', 1)
        expect(await told(history, site)).toEqual([{ ...removed, details: { count: 1_234 } }])
      })
    })
  })
}
