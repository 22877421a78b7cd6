import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { listAll } from '../../../lib/storage/object-store.ts'
import { type StoragePath, toStoragePath } from '../../../lib/storage/path.ts'
import { type Answer, statusAndCode } from '../../support/answer.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import type { Between } from '../../support/files.ts'
import { entry } from '../../support/history.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

const template = '<html>{tag_pagecontent}</html>'

/** A bucket in memory in the place of the disk. */
const inBucket: Between = () => ({ files: openObjectStore(openBucketInMemory()) })

describe.each([
  ['on one machine', undefined],
  ['in S3', inBucket],
])('%s', (_, between) => {
  let storage: StorageUnderTest

  const running: StoragePath[] = []

  beforeAll(async () => {
    storage = await openStorage(between ? { between } : {})
  })
  afterAll(() => storage.close())
  afterEach(async () => {
    const { files, workflows } = storage.deps
    for (const area of ['draft/', 'live/'])
      for await (const objects of listAll(files, area)) await files.remove(objects, entry)
    for (const page of running.splice(0)) await workflows.end(storage.site, page, entry)
  })

  const startWorkflow = async (path: string) => {
    const page = toStoragePath(path)
    await storage.deps.workflows.start(storage.site, page, entry)
    running.push(page)
  }

  const moveTo = (from: string, path: string) => storage.relocate(from, { path })
  const copyTo = (from: string, path: string) => storage.relocate(from, { copyTo: path })

  /** It is refused with that code, and everything is as it was. */
  const refused = async (run: () => Promise<Answer>, code: number, status = 400) => {
    const before = await storage.keys()
    const answer = await run()
    expect(statusAndCode(answer)).toEqual([status, code])
    expect(await storage.keys()).toEqual(before)
  }

  const both = [
    ['move', moveTo],
    ['copy', copyTo],
  ] as const

  describe.each(both)('a %s', (kind, to) => {
    it('of a file creates the folders on the way, and keeps the bytes', async () => {
      await storage.put('/a/b.txt', 'text')
      const { status, json } = await to('/a/b.txt', '/c/d/e.css')
      expect([status, json]).toEqual([200, { status: 'success' }])
      expect(await storage.textOf('/c/d/e.css')).toBe('text')
      expect(await storage.textOf('/a/b.txt')).toBe(kind === 'copy' ? 'text' : undefined)
      const created = ['live/1001/c/', 'live/1001/c/d/', 'live/1001/c/d/e.css']
      expect(await storage.keys()).toEqual([
        'live/1001/a/',
        ...(kind === 'copy' ? ['live/1001/a/b.txt'] : []),
        ...created,
      ])
      const { headers } = await storage.call('HEAD', '/c/d/e.css', { headers: { Accept: 'text/css' } })
      expect(headers['content-type']).toBe('text/css')
    })

    it('takes the path as plain text, with slashes in front, behind and in a row', async () => {
      await storage.put('/a')
      for (const [text, path] of [
        ['/100%25 + é?#', '/100%2525%20%2B%20%C3%A9%3F%23'],
        ['b', '/b'],
        ['//c//d/', '/c/d'],
        ['e\u0301', '/%C3%A9'],
      ] as const) {
        await storage.put('/source', text)
        expect((await to('/source', text)).status).toBe(200)
        expect(await storage.textOf(path)).toBe(text)
      }
    })

    it('onto a file, a draft or a folder is 104022', async () => {
      for (const path of ['/a.html', '/taken.html', '/folder/below']) await storage.put(path)
      await storage.put('/draft.html', 'draft', { version: 'draft' })
      for (const path of ['/taken.html', '/draft.html', '/folder']) await refused(() => to('/a.html', path), 104022)
      await refused(() => to('/folder', '/a.html'), 104022)
    })

    it('of what is there in other case is made where it is', async () => {
      await storage.put('/Folder/a.txt')
      expect((await to('/FOLDER/a.txt', '/FOLDER/b.txt')).status).toBe(200)
      expect(await storage.textOf('/Folder/b.txt')).toBe('/Folder/a.txt')
    })

    it.each([
      ['\ud800', 104015],
      ['///', 104014],
    ])('to the path %j is %i', async (path, code) => {
      await storage.put('/a')
      await refused(() => to('/a', path), code)
    })

    it('checks what becomes a template, as an upload does: 104008 with its path', async () => {
      await storage.put('/old/good.html', template)
      await storage.put('/old/below/bad.dwt', 'none')
      await refused(() => to('/old', 'Templates/new'), 104008)
      await refused(() => to('/old/below/bad.dwt', 'Templates/bad.html'), 104008)
      expect((await to('/old', 'Templates/new')).json.message).toContain('Templates/new/below/bad.dwt')
      await storage.put('/old/below/bad.dwt', template)
      await storage.put('/old/short.html', '{tag_pagecontent}')
      expect((await to('/old', 'Templates/new')).status).toBe(200)
      expect(await storage.textOf('/Templates/new/below/bad.dwt')).toBe(template)
    })

    it('out of, into or beside a folder that is being removed is 104010', async () => {
      for (const path of ['/going/a', '/going/f/b', '/a']) await storage.put(path)
      const { removals } = storage.deps
      const id = await removals.open(storage.site, toStoragePath('going/f'), 'one', entry)
      for (const [from, path] of [
        ['/going/f/b', '/b'],
        ['/going/f', '/b'],
        ['/going', '/b'],
        ['/a', '/going/f/a'],
        ['/a', '/going/f'],
      ] as const) {
        await refused(() => to(from, path), 104010)
      }
      await removals.close(storage.site, toStoragePath('going/f'), id, 0)
      expect((await to('/going', '/b')).status).toBe(200)
    })

    it('to where a workflow is running is 104012, and 104022 when something is there', async () => {
      await storage.put('/a.html')
      await storage.put('/f/p.html')
      await storage.put('/taken.html')
      for (const page of ['new.html', 'g/p.html', 'taken.html']) await startWorkflow(page)
      await refused(() => to('/a.html', '/new.html'), 104012)
      await refused(() => to('/f', '/g'), 104012)
      await refused(() => to('/a.html', '/taken.html'), 104022)
    })

    it('of a folder for which there is no time is 104000 (S-59)', async () => {
      await fillFolder(storage, '/large', 10)
      await refused(
        () => storage.relocate('/large', { [kind === 'copy' ? 'copyTo' : 'path']: 'b/c' }, { remaining: 0 }),
        104000,
      )
    })
  })

  describe('a move', () => {
    it('takes the draft along, but neither to what is no page nor below Templates', async () => {
      for (const path of ['/a.html', '/b.html', '/f/c.html', '/g/d.html']) {
        await storage.put(path, template)
        await storage.put(path, 'draft', { version: 'draft' })
      }
      await moveTo('/a.html', '/pages/a.htm')
      await moveTo('/b.html', '/pages/b.txt')
      await moveTo('/f', '/pages/f')
      await moveTo('/g', '/Templates/g')
      expect((await storage.keys()).filter((key) => key.startsWith('draft/'))).toEqual([
        'draft/1001/pages/a.htm',
        'draft/1001/pages/f/c.html',
      ])
      expect(await storage.textOf('/pages/a.htm', { version: 'draft' })).toBe('draft')
    })

    it('makes the live file of a draft without one, where its new place is no page (S-111)', async () => {
      for (const path of ['/f/a.html', '/f/b.html']) await storage.put(path, template, { version: 'draft' })
      await storage.put('/f/b.html', template)
      await storage.put('/f/c.html', 'no template', { version: 'draft' })
      await refused(() => moveTo('/f', '/Templates/f'), 104008)
      await storage.put('/f/c.html', template, { version: 'draft' })
      await moveTo('/f', '/Templates/f')
      for (const name of ['a', 'b', 'c']) expect(await storage.textOf(`/Templates/f/${name}.html`)).toBe(template)
      expect((await storage.keys()).filter((key) => key.startsWith('draft/'))).toEqual([])
    })

    it('of a page with a running workflow, or a folder that holds one, is 104012', async () => {
      await storage.put('/f/p.html')
      await startWorkflow('f/p.html')
      for (const path of ['/f/p.html', '/f']) await refused(() => moveTo(path, '/g/x.html'), 104012)
    })
  })

  describe('a copy', () => {
    it('takes the live files alone: neither drafts nor workflows', async () => {
      await storage.put('/f/p.html', 'live')
      await storage.put('/f/p.html', 'draft', { version: 'draft' })
      await storage.put('/f/only.html', 'draft', { version: 'draft' })
      await startWorkflow('f/p.html')
      expect((await copyTo('/f', '/g')).status).toBe(200)
      expect((await copyTo('/f/p.html', '/q.html')).status).toBe(200)
      expect(await storage.textOf('/g/p.html', { version: 'draft' })).toBe('live')
      expect(await storage.textOf('/f/p.html', { version: 'draft' })).toBe('draft')
      expect((await storage.put('/g/p.html', 'changed')).status).toBe(200)
      await refused(() => copyTo('/f/only.html', '/r.html'), 104001, 404)
    })

    it('of a reserved folder is made', async () => {
      await storage.put('/Templates/t.html', template)
      await storage.put('/Templates/deep/u.dwt', template)
      expect((await copyTo('/Templates', '/_System/Templates')).status).toBe(200)
      expect((await copyTo('/Templates/deep', '/Layouts')).status).toBe(200)
      expect(await storage.textOf('/_System/Templates/t.html')).toBe(template)
      expect(await storage.textOf('/Layouts/u.dwt')).toBe(template)
    })

    it('of a file for which there is no time is 104000 (S-59)', async () => {
      await storage.put('/a')
      await refused(() => storage.relocate('/a', { copyTo: 'b/c' }, { remaining: 0 }), 104000)
    })
  })

  it('members that are unknown are passed over', async () => {
    await storage.put('/a')
    expect((await storage.relocate('/a', { title: 'x', path: '/b' })).status).toBe(200)
  })

  it('the root can be neither moved nor copied: 104014', async () => {
    await storage.put('/a')
    for (const body of [{ path: 'b' }, { copyTo: 'b' }]) await refused(() => storage.relocate('', body), 104014)
  })
})
