import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parsePath } from '../../../lib/storage/path.ts'
import { findIgnoringCase, resolveFolder } from '../../../lib/storage/resolve-path.ts'
import { codeOf } from '../../support/answer.ts'
import { openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const template = '{tag_pagecontent}'

const openOnS3 = async (): Promise<StorageUnderTest> => {
  const files = openObjectStore(openBucketInMemory())
  return openStorage({ between: () => ({ files }) })
}

let storage: StorageUnderTest
afterEach(() => storage.close())

const put = async (...given: Parameters<StorageUnderTest['put']>) => {
  expect((await storage.put(...given)).status).toBe(200)
}
/** What is named itself is taken as written, so this makes folders that differ by case alone. */
const folder = (path: string) => put(path, '', { type: 'folder' })
const remove = async (path: string, headers = {}) => (await storage.remove(path, { headers })).status
/** The paths of everything that is there; folders end in a slash. */
const paths = async () => (await storage.keys()).map((key) => key.replace(`/${storage.site}/`, ' '))

describe.each([
  ['one machine', openStorage],
  ['S3', openOnS3],
] as const)('without case on %s', (_, open) => {
  beforeEach(async () => {
    storage = await open()
  })

  it('a file is read at the path that is there, in its bytes and in what is said of it', async () => {
    await put('/_System/Apps/Shop/Menu.json', '{}')
    expect(await storage.read('/_system/apps/SHOP/menu.JSON')).toBe('{}')
    const head = await storage.call('HEAD', '/_System/apps/Shop/Menu.json')
    expect([head.status, head.headers['content-length']]).toEqual([200, '2'])
    const meta = (await storage.get('/_SYSTEM/apps', { meta: '' })).json
    expect(meta).toMatchObject({ name: 'Apps', type: 'folder', contents: [{ name: 'Shop' }] })
    expect(meta.links[0].uri).toContain('/storage/_System/Apps')
    expect(meta.contents[0].links[0].uri).toContain('/storage/_System/Apps/Shop')
    expect(codeOf(await storage.get('/_system/apps'))).toBe(104002)
  })

  it('what is there as written comes first, at each segment', async () => {
    for (const path of ['/A', '/a']) await folder(path)
    for (const path of ['/A/x', '/a/x', '/a/X', '/A/only']) await put(path)
    expect(await storage.read('/a/x')).toBe('/a/x')
    expect(await storage.read('/A/X')).toBe('/A/x')
    // The folder is there as written: the other one is not asked.
    expect(await storage.read('/a/only')).toBe(404)
  })

  it('of several candidates the first by code point counts', async () => {
    for (const name of ['abC', 'aBc', 'Abc', 'ABc']) await put(`/${name}`)
    expect(await storage.read('/abc')).toBe('/ABc')
    await put('/kinds/zoo')
    await folder('/kinds/ZOO')
    expect((await storage.get('/kinds/Zoo', { meta: '' })).json).toMatchObject({ name: 'ZOO', type: 'folder' })
    for (const path of ['/d', '/d/E', '/d/e']) await folder(path)
    await put('/d/E/1')
    await put('/d/e/2')
    expect(await storage.read('/D/E/2')).toBe(404)
    expect(await storage.read('/D/e/2')).toBe('/d/e/2')
    expect(await storage.read('/d/E/1')).toBe('/d/E/1')
  })

  it('case is that of Unicode, without a language', async () => {
    for (const name of ['Ärger', 'ΣΊΣΥΦΟΣ', 'I', 'Straße']) await put(`/${encodeURIComponent(name)}`, name)
    expect(await storage.read(`/${encodeURIComponent('a\u0308RGER')}`)).toBe('Ärger')
    expect(await storage.read(`/${encodeURIComponent('σίσυφος')}`)).toBe('ΣΊΣΥΦΟΣ')
    expect(await storage.read('/i')).toBe('I')
    expect(await storage.read('/%C4%B1')).toBe(404)
    expect(await storage.read('/STRASSE')).toBe(404)
  })

  it('what is put somewhere goes into the folders that are there, under its own name', async () => {
    await put('/Shop/Items/one')
    await put('/shop/items/ONE', '2')
    await put('/shop/ITEMS/New/two')
    await folder('/SHOP/folder')
    await folder('/SHOP/items')
    const form = [{ name: 'three', content: '3' }]
    expect((await storage.post('/SHOP/Items', form)).status).toBe(200)
    expect((await storage.post('/shop/Items/new', form)).status).toBe(200)
    expect(await paths()).toEqual([
      'live Shop/',
      'live Shop/Items/',
      'live Shop/Items/New/',
      'live Shop/Items/New/three',
      'live Shop/Items/New/two',
      'live Shop/Items/ONE',
      'live Shop/Items/one',
      'live Shop/Items/three',
      'live Shop/folder/',
      'live Shop/items/',
    ])
  })

  it('the one file whose name is in the path replaces the one of that very name, and no other', async () => {
    await put('/Habit/Photo.jpg', 'old')
    const form = [{ name: 'photo.jpg', content: 'new' }]
    expect((await storage.post('/habit/photo.jpg', form)).status).toBe(200)
    expect([await storage.read('/Habit/Photo.jpg'), await storage.read('/Habit/photo.jpg')]).toEqual(['old', 'new'])
  })

  it('a file on the way as written ends the way, whatever folder is there beside it', async () => {
    await put('/leaf')
    await folder('/LEAF')
    await put('/LEAF/x')
    expect(codeOf(await storage.put('/leaf/y', 'y'))).toBe(104009)
    expect(codeOf(await storage.remove('/leaf/x'))).toBe(104009)
    expect(await storage.read('/leaf/x')).toBe(404)
  })

  it('the rules are those of the path that was found', async () => {
    await put('/Templates/ok.txt')
    expect(codeOf(await storage.put('/templates/t.html', 'x'))).toBe(104008)
    await put('/templates/t.html', template)
    expect(codeOf(await storage.put('/TEMPLATES/t.html', 'x'))).toBe(104008)
    await put('/Pages/p.html')
    await storage.deps.workflows.start(storage.site, parsePath('Pages/p.html'), entry)
    expect(codeOf(await storage.put('/pages/p.html', 'x'))).toBe(104012)
    expect(codeOf(await storage.remove('/pages/p.html'))).toBe(104011)
    await storage.deps.removals.open(storage.site, parsePath('Pages'), 'going', entry)
    expect(codeOf(await storage.put('/pages/new', 'x'))).toBe(104010)
    expect(codeOf(await storage.remove('/pages/p.html'))).toBe(104010)
  })

  it('a path of 16 segments is searched, and no longer one', async () => {
    const sixteen = `/${Array.from({ length: 15 }, () => 'Deep').join('/')}`
    await put(`${sixteen}/a`, 'a')
    await put(`${sixteen}/b/c`, 'c')
    expect(await storage.read(`${sixteen.toLowerCase()}/A`)).toBe('a')
    expect(await storage.read(`${sixteen.toLowerCase()}/b/C`)).toBe(404)
    expect(await remove(`${sixteen.toLowerCase()}/b/c`)).toBe(404)
    expect(await remove(`${sixteen.toLowerCase()}/a`)).toBe(200)
    await put(`${sixteen.toLowerCase()}/b/d`)
    expect(await paths()).toContain(`live ${sixteen.toLowerCase().slice(1)}/b/d`)
  })

  it('a change with a condition is taken as written', async () => {
    await put('/Cond/a')
    for (const name of ['If-Match', 'If-None-Match']) {
      const headers = { [name.toLowerCase()]: name === 'If-Match' ? '"x"' : '*' }
      expect(await remove('/cond/a', headers)).not.toBe(200)
      await storage.put(`/COND/${name}`, 'x', {}, headers)
    }
    expect(await storage.read('/Cond/a')).toBe('/Cond/a')
    expect((await paths()).filter((path) => path.startsWith('live Cond'))).toEqual(['live Cond/', 'live Cond/a'])
  })

  it('a rename gives the name as it is written', async () => {
    await put('/Ren/a.txt')
    expect((await storage.rename('/Ren/a.txt', 'A.TXT')).status).toBe(200)
    expect(await paths()).toEqual(['live Ren/', 'live Ren/A.TXT'])
  })

  it('what is looked up is one path, or none', async () => {
    await put('/One/Two.html', 'draft', { version: 'draft' })
    const { files } = storage.deps
    const find = (path: string) => findIgnoringCase(files, storage.site, parsePath(path))
    expect(await find('/one/two.HTML')).toBe('One/Two.html')
    expect(await find('/One/Two.html')).toBe('One/Two.html')
    expect(await find('/ONE')).toBe('One')
    for (const path of ['', 'one/three', 'two/two.html', 'one/two.html/three', 'one/none/two.html'])
      expect(await find(path)).toBeUndefined()
    expect(await resolveFolder(files, storage.site, parsePath('one/Three/four'))).toBe('One/Three/four')
    expect(await resolveFolder(files, storage.site, parsePath(''))).toBe('')
  })
})
