import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../lib/core/clock.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { statusAndCode } from '../../support/answer.ts'
import { author } from '../../support/history.ts'
import { storageHands } from './hands.ts'
import type { StorageUnderTest } from './service.ts'

interface Version {
  readonly version: string
  readonly size: number
  readonly removed: boolean
  readonly current: boolean
}

for (const { name: hand, open } of storageHands) {
  describe(`history of files on ${hand}`, () => {
    let storage: StorageUnderTest
    beforeEach(async () => {
      storage = await open()
    })
    afterEach(async () => {
      vi.useRealTimers()
      await storage.close()
    })

    const put = async (...given: Parameters<StorageUnderTest['put']>) => {
      expect((await storage.put(...given)).status).toBe(200)
    }
    const versionsOf = async (path: string): Promise<readonly Version[]> =>
      (await storage.get(path, { versions: '' })).json.versions
    const deletedIn = async (path: string, query = {}) => (await storage.get(path, { deleted: '', ...query })).json
    const namesDeletedIn = async (path: string) =>
      (await deletedIn(path)).deleted.map(({ name, type }: { name: string; type: string }) => `${type} ${name}`)
    const fill = (folder: string, count: number) => {
      const names = Array.from({ length: count }, (_, index) => ({ name: `f${index}`, content: `${folder} ${index}` }))
      return storage.post(folder, names)
    }
    const isGone = async (folder: string) => (await storage.get(folder, { meta: '' })).status === 404

    describe('the versions of a file', () => {
      it('are told, and each is read with its own tag, in parts as well', async () => {
        await put('/a.txt', 'old')
        await put('/a.txt', 'newer')
        const [current, old] = await versionsOf('/a.txt')
        expect(current).toMatchObject({ size: 5, current: true, removed: false })
        expect(old).toMatchObject({ size: 3, current: false, removed: false })
        expect(await storage.read('/a.txt', { versionId: old?.version ?? '' })).toBe('old')
        const part = await storage.get('/a.txt', { versionId: old?.version ?? '' }, { Range: 'bytes=1-' })
        expect([part.status, part.text]).toEqual([206, 'ld'])
        const tag = (await storage.get('/a.txt', { versionId: old?.version ?? '' })).headers['etag']
        const unchanged = await storage.get('/a.txt', { versionId: old?.version ?? '' }, { 'If-None-Match': tag ?? '' })
        expect(unchanged.status).toBe(304)
        expect((await storage.get('/a.txt')).headers['etag']).not.toBe(tag)
      })

      it('are told of what was removed, and come in pages', async () => {
        for (const text of ['1', '22', '333']) await put('/a.txt', text)
        await storage.remove('/a.txt')
        expect((await versionsOf('/a.txt'))[0]).toMatchObject({ size: 3, removed: true, current: false })
        const sizes: number[] = []
        let cursor: string | undefined = ''
        while (cursor !== undefined) {
          const query: Record<string, string> = { versions: '', limit: '1', ...(cursor && { cursor }) }
          const page = (await storage.get('/a.txt', query)).json
          sizes.push(...page.versions.map(({ size }: Version) => size))
          cursor = page.cursor
        }
        expect(sizes).toEqual([3, 2, 1])
      })

      it('are those of live files: of what never was, and of a folder, there are none', async () => {
        await put('/folder/a.txt')
        expect(statusAndCode(await storage.get('/none', { versions: '' }))).toEqual([404, 104001])
        expect(statusAndCode(await storage.get('/folder', { versions: '' }))).toEqual([400, 104002])
        expect(statusAndCode(await storage.get('', { versions: '' }))).toEqual([400, 104002])
      })

      it('do not go on behind a version of another file', async () => {
        for (const path of ['/a.txt', '/b.txt']) for (const text of ['1', '22', '333']) await put(path, text)
        const { cursor } = (await storage.get('/a.txt', { versions: '', limit: '1' })).json
        const query = { versions: '', cursor }
        expect((await storage.get('/a.txt', query)).status).toBe(200)
        expect(statusAndCode(await storage.get('/b.txt', query))).toEqual([400, 104000])
      })

      it('have no links', async () => {
        await put('/a.txt')
        const [{ version } = { version: '' }] = await versionsOf('/a.txt')
        expect(statusAndCode(await storage.get('/a.txt', { link: '', versionId: version }))).toEqual([400, 104000])
      })

      it('are not those of other paths, and a name that is none finds nothing', async () => {
        await put('/a.txt', 'a')
        await put('/b.txt', 'b')
        const [other] = await versionsOf('/b.txt')
        for (const versionId of [other?.version ?? '', 'none', '../../etc', '\u0000', 'x'.repeat(1_024)]) {
          expect(statusAndCode(await storage.get('/a.txt', { versionId }))).toEqual([404, 104001])
          expect(statusAndCode(await storage.restore('/a.txt', { version: versionId, replace: true }))).toEqual([
            404, 104001,
          ])
        }
        for (const versionId of ['', 'x'.repeat(1_025)]) {
          expect(statusAndCode(await storage.get('/a.txt', { versionId }))).toEqual([400, 104000])
        }
      })
    })

    describe('a file is restored', () => {
      it('onto what is there meanwhile only when it is told to', async () => {
        await put('/a.txt', 'removed')
        await storage.remove('/a.txt')
        await put('/a.txt', 'meanwhile')
        expect(statusAndCode(await storage.restore('/a.txt'))).toEqual([400, 104022])
        expect(await storage.read('/a.txt')).toBe('meanwhile')
        expect(statusAndCode(await storage.restore('/a.txt', { replace: true }))).toEqual([200, undefined])
        expect(await storage.read('/a.txt')).toBe('removed')
      })

      it('under the conditions of the request', async () => {
        await put('/a.txt', '1')
        await put('/a.txt', '22')
        const [, old] = await versionsOf('/a.txt')
        const restoreIf = (headers: Record<string, string>) =>
          storage.restore('/a.txt', { version: old?.version, replace: true }, { headers })
        expect(statusAndCode(await restoreIf({ 'If-Match': '"another"' }))).toEqual([412, 100412])
        expect(statusAndCode(await restoreIf({ 'If-None-Match': '*' }))).toEqual([412, 100412])
        expect(await storage.read('/a.txt')).toBe('22')
        expect(statusAndCode(await restoreIf({ 'If-Match': await storage.tagOf('/a.txt') }))).toEqual([200, undefined])
        expect(await storage.read('/a.txt')).toBe('1')
      })

      it('to the version in which it is: nothing changes', async () => {
        await put('/a.txt', '1')
        const before = await versionsOf('/a.txt')
        expect(statusAndCode(await storage.restore('/a.txt', { version: before[0]?.version, replace: true }))).toEqual([
          200,
          undefined,
        ])
        expect(await versionsOf('/a.txt')).toEqual(before)
      })

      it('not where a folder is meanwhile, nor below a file', async () => {
        await put('/a', 'file')
        await storage.remove('/a')
        await put('/a/b', 'below')
        expect(statusAndCode(await storage.restore('/a'))).toEqual([400, 104022])
        expect(statusAndCode(await storage.restore('/a', { replace: true }))).toEqual([400, 104022])
        await storage.remove('/a/b')
        await storage.remove('/a')
        await put('/a', 'file again')
        expect(statusAndCode(await storage.restore('/a/b'))).toEqual([400, 104009])
        expect(await storage.read('/a')).toBe('file again')
      })

      it('with the folders on the way to it', async () => {
        await put('/deep/er/a.txt', 'a')
        await storage.remove('/deep')
        expect(statusAndCode(await storage.restore('/deep/er/a.txt'))).toEqual([200, undefined])
        expect(await storage.read('/deep/er/a.txt')).toBe('a')
        expect(await isGone('/deep')).toBe(false)
      })

      it('not while a workflow runs on it, nor in a folder that is being removed', async () => {
        await put('/page.html', '<p>')
        await storage.remove('/page.html')
        const { workflows, removals } = storage.deps
        const of = { ...author, site: storage.site, subject: 'page.html' } as const
        await workflows.start(storage.site, parsePath('page.html'), { ...of, type: 'workflow.created' })
        expect(statusAndCode(await storage.restore('/page.html'))).toEqual([400, 104012])
        await put('/going/a.txt')
        await storage.remove('/going/a.txt')
        await removals.open(storage.site, parsePath('going'), 'id', { ...of, type: 'folder.removed' })
        expect(statusAndCode(await storage.restore('/going/a.txt'))).toEqual([400, 104010])
        expect(statusAndCode(await storage.restore('/going'))).toEqual([400, 104010])
      })
    })

    describe('a folder is restored', () => {
      it('with all that its removal has taken along, every byte of it', async () => {
        expect((await fill('/folder/many', 60)).status).toBe(200)
        await put('/folder/page.html', '<p>live')
        await put('/folder/page.html', '<p>draft', { version: 'draft' })
        await storage.makeFolder('/folder/empty')
        await storage.remove('/folder')
        expect(await isGone('/folder')).toBe(true)
        expect(statusAndCode(await storage.restore('/folder'))).toEqual([200, undefined])
        for (let index = 0; index < 60; index++) {
          expect(await storage.read(`/folder/many/f${index}`)).toBe(`/folder/many ${index}`)
        }
        expect(await storage.read('/folder/page.html')).toBe('<p>live')
        expect(await storage.read('/folder/page.html', { version: 'draft' })).toBe('<p>draft')
        expect(await isGone('/folder/empty')).toBe(false)
        expect(storage.leftovers()).toBe(0)
      })

      /**
       * Removes a folder with one file, and later another file, and then the folder with the third one; answers which
       * of the three come back.
       */
      const restoreAfter = async (pause: number) => {
        const later = () => vi.setSystemTime(Date.now() + pause)
        vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
        await storage.close()
        storage = await open({ clock: { ...systemClock, wall: Date.now } })
        await put('/folder/first.txt')
        later()
        await storage.remove('/folder')
        later()
        await put('/folder/second.txt')
        await put('/folder/third.txt')
        later()
        await storage.remove('/folder/second.txt')
        later()
        await storage.remove('/folder')
        later()
        expect(statusAndCode(await storage.restore('/folder'))).toEqual([200, undefined])
        const names = ['first', 'second', 'third']
        const found = await Promise.all(names.map((name) => storage.read(`/folder/${name}.txt`)))
        return names.filter((_, index) => found[index] !== 404)
      }

      it('with what its last removal alone has taken along', async () => {
        expect(await restoreAfter(5_000)).toEqual(['third'])
      })

      it('also with what went by itself in the same second, where moments are whole seconds (H-23)', async () => {
        expect(await restoreAfter(10)).toEqual(hand === 'AWS' ? ['first', 'second', 'third'] : ['third'])
      })

      it('not onto anything below it unless it is told to; then what is there otherwise stays', async () => {
        await put('/folder/a.txt', 'removed a')
        await put('/folder/b.txt', 'removed b')
        await storage.remove('/folder')
        await put('/folder/b.txt', 'newer b')
        await put('/folder/c.txt', 'newer c')
        expect(statusAndCode(await storage.restore('/folder'))).toEqual([400, 104022])
        expect(await storage.read('/folder/a.txt')).toBe(404)
        expect(statusAndCode(await storage.restore('/folder', { replace: true }))).toEqual([200, undefined])
        expect(await storage.read('/folder/a.txt')).toBe('removed a')
        expect(await storage.read('/folder/b.txt')).toBe('removed b')
        expect(await storage.read('/folder/c.txt')).toBe('newer c')
      })

      it('not onto a draft below it, which is all that is there', async () => {
        await put('/folder/page.html', 'live')
        await put('/folder/page.html', 'draft', { version: 'draft' })
        await storage.remove('/folder')
        await put('/folder/page.html', 'newer draft', { version: 'draft' })
        expect(statusAndCode(await storage.restore('/folder'))).toEqual([400, 104022])
        expect(await storage.read('/folder/page.html', { version: 'draft' })).toBe('newer draft')
      })

      it('below another one, with what the removal of that one has taken along', async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1) })
        const later = () => vi.setSystemTime(Date.now() + 10_000)
        await storage.close()
        storage = await open({ clock: { ...systemClock, wall: Date.now } })
        await put('/around/folder/old.txt')
        later()
        await storage.remove('/around/folder')
        later()
        await put('/around/folder/new.txt')
        await put('/around/other', 'a file')
        await storage.remove('/around/other')
        await put('/around/other/a.txt')
        later()
        await storage.remove('/around')
        later()
        expect(statusAndCode(await storage.restore('/around/folder'))).toEqual([200, undefined])
        expect(await storage.read('/around/folder/new.txt')).toBe('/around/folder/new.txt')
        expect(await storage.read('/around/folder/old.txt')).toBe(404)
        expect(statusAndCode(await storage.restore('/around/other'))).toEqual([200, undefined])
        expect(await storage.read('/around/other/a.txt')).toBe('/around/other/a.txt')
      })

      it('not onto a file where it has a folder, nor onto a folder where it has a file', async () => {
        for (const [before, meanwhile] of [
          ['/folder/x', '/folder/x/y'],
          ['/folder/x/y', '/folder/x'],
        ] as const) {
          await put(before)
          await storage.remove('/folder')
          await put(meanwhile)
          expect(statusAndCode(await storage.restore('/folder', { replace: true }))).toEqual([400, 104022])
          expect(await storage.read(meanwhile)).toBe(meanwhile)
          await storage.remove('/folder')
        }
      })

      it('under the conditions of the request', async () => {
        await put('/folder/a.txt')
        await storage.remove('/folder')
        const restoreIf = (headers: Record<string, string>) =>
          storage.restore('/folder', { replace: true }, { headers })
        expect(statusAndCode(await restoreIf({ 'If-Match': '*' }))).toEqual([412, 100412])
        expect(statusAndCode(await restoreIf({ 'If-None-Match': '*' }))).toEqual([200, undefined])
        await storage.remove('/folder/a.txt')
        expect(statusAndCode(await restoreIf({ 'If-None-Match': '*' }))).toEqual([412, 100412])
      })

      it('not where a file is meanwhile', async () => {
        await put('/folder/a.txt')
        await storage.remove('/folder')
        await put('/folder', 'a file')
        expect(statusAndCode(await storage.restore('/folder', { replace: true }))).toEqual([400, 104022])
        expect(await storage.read('/folder')).toBe('a file')
      })

      it('and can be written to and removed as before', async () => {
        await put('/folder/a.txt', 'a')
        await storage.remove('/folder')
        await storage.restore('/folder')
        await put('/folder/b.txt', 'b')
        expect((await storage.remove('/folder')).status).toBe(200)
        expect(statusAndCode(await storage.restore('/folder'))).toEqual([200, undefined])
        expect([await storage.read('/folder/a.txt'), await storage.read('/folder/b.txt')]).toEqual(['a', 'b'])
      })
    })

    describe('what cannot be restored is refused', () => {
      it.each([
        ['what was never there', '/none', {}, [404, 104001]],
        ['the root', '', {}, [400, 104014]],
        ['a reserved folder', '/Templates', {}, [400, 104020]],
        ['with members that there are not', '/a.txt', { force: true }, [400, 104000]],
        ['with a version that is no text', '/a.txt', { version: 1 }, [400, 104000]],
        ['with a version that is empty', '/a.txt', { version: '' }, [400, 104000]],
        ['with a text in place of a yes', '/a.txt', { replace: 'true' }, [400, 104000]],
        ['with a list', '/a.txt', [], [400, 104000]],
      ])('%s', async (_, path, body, expected) => {
        await put('/a.txt', 'a')
        await storage.remove('/a.txt')
        expect(statusAndCode(await storage.restore(path, body))).toEqual(expected)
      })

      it('with members that there are not: the answer names those that there are', async () => {
        expect((await storage.restore('/a.txt', { versoin: 'x' })).json.message).toMatch(/version and replace/)
      })
    })

    describe('what was deleted', () => {
      it('is listed by folder, be that there or not', async () => {
        await put('/a.txt')
        await put('/folder/b.txt', 'bb')
        await put('/folder/below/c.txt')
        await storage.remove('/a.txt')
        await storage.remove('/folder')
        expect(await namesDeletedIn('')).toEqual(['file a.txt', 'folder folder'])
        expect(await namesDeletedIn('/folder')).toEqual(['file b.txt', 'folder below'])
        const { deleted } = await deletedIn('/folder')
        expect(deleted.find(({ name }: { name: string }) => name === 'b.txt')).toMatchObject({ size: 2 })
        expect(new Date(deleted[0].removedAt).toISOString()).toBe(deleted[0].removedAt)
        await storage.restore('/a.txt')
        expect(await namesDeletedIn('')).toEqual(['folder folder'])
      })

      it('is listed in pages', async () => {
        for (const name of ['a', 'b', 'c']) await put(`/folder/${name}`)
        await storage.remove('/folder')
        const first = await deletedIn('/folder', { limit: '2' })
        expect(first.deleted.map(({ name }: { name: string }) => name)).toEqual(['a', 'b'])
        const second = await deletedIn('/folder', { limit: '2', cursor: first.cursor })
        expect(second.deleted.map(({ name }: { name: string }) => name)).toEqual(['c'])
        expect(second.cursor).toBeUndefined()
      })

      it('of what never was is nothing', async () => {
        expect(statusAndCode(await storage.get('/none', { deleted: '' }))).toEqual([404, 104001])
        expect(await deletedIn('')).toEqual({ deleted: [] })
        const bad = [{ limit: '0' }, { limit: 'abc' }, { cursor: 'x' }]
        for (const query of bad) {
          expect(statusAndCode(await storage.get('', { deleted: '', ...query }))).toEqual([400, 104000])
        }
      })
    })

    describe('before a removal', () => {
      const preview = async (path: string) => {
        const { status, json } = await storage.get(path, { removal: '' })
        return [status, json]
      }

      it('one is told how much goes', async () => {
        await put('/folder/a.txt', '1')
        await put('/folder/b/page.html', '22')
        await put('/folder/b/page.html', '333', { version: 'draft' })
        await put('/folder/b/draft.html', '4444', { version: 'draft' })
        await put('/beside.txt', '55555')
        expect(await preview('/folder')).toEqual([200, { files: 3, folders: 2, bytes: 10 }])
        expect(await preview('/folder/b/page.html')).toEqual([200, { files: 1, folders: 0, bytes: 5 }])
        expect(await preview('')).toEqual([200, { files: 4, folders: 3, bytes: 15, code: 104014 }])
        expect((await preview('/none'))[0]).toBe(404)
        expect(await storage.read('/folder/a.txt')).toBe('1')
      })

      it('one is told how it would be refused', async () => {
        await put('/Templates/a.txt', 'a')
        await put('/folder/page.html', 'x')
        const of = { ...author, site: storage.site, subject: '' } as const
        const { workflows, removals } = storage.deps
        await workflows.start(storage.site, parsePath('folder/page.html'), { ...of, type: 'workflow.created' })
        expect((await preview('/Templates'))[1]).toMatchObject({ files: 1, code: 104020 })
        expect((await preview('/folder'))[1]).toMatchObject({ files: 1, code: 104011 })
        expect((await preview('/folder/page.html'))[1]).toMatchObject({ files: 1, code: 104011 })
        await removals.open(storage.site, parsePath('going'), 'id', { ...of, type: 'folder.removed' })
        await put('/beside/a.txt')
        await removals.open(storage.site, parsePath('beside'), 'id', { ...of, type: 'folder.removed' })
        expect((await preview('/beside/a.txt'))[1]).toMatchObject({ files: 1, code: 104010 })
        // Who asks for the same removal again is told that it goes on.
        expect((await preview('/beside'))[1]).toEqual({ files: 1, folders: 1, bytes: 13 })
      })

      it('one is told of what is not there as a removal would be', async () => {
        expect(await preview('')).toEqual([200, { files: 0, folders: 0, bytes: 0, code: 104014 }])
        await put('/file')
        for (const path of ['/none', '/file/below']) {
          expect(statusAndCode(await storage.get(path, { removal: '' }))).toEqual(
            statusAndCode(await storage.remove(path)),
          )
        }
      })

      it('folders are counted once each, in whatever order they and their files come', async () => {
        for (const path of ['/a-b/x', '/a/b/x', '/a/b/y', '/a/b-c', '/a/c/x.html', '/a.html']) await put(path, '1')
        await put('/a/c/x.html', '22', { version: 'draft' })
        await put('/a/d/only.html', '333', { version: 'draft' })
        await storage.makeFolder('/a/empty')
        expect(await preview('/a')).toEqual([200, { files: 5, folders: 5, bytes: 9 }])
      })
    })
  })
}
