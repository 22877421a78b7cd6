import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, ownFolder, purge, read, remove, restore, store, versionsOf } from '../support/storage.ts'

const own = ownFolder()
const changes = '/api/v2/admin/sites/current/changes'

const named = (version: string | undefined) => `?versionId=${encodeURIComponent(version ?? '')}`
const sizesOf = async (path: string) => (await versionsOf(path)).map(({ size }) => size)
const entriesOf = async (path: string) =>
  (await call(`${changes}?type=file.purged&limit=100&subject=${encodeURIComponent(path)}`)).json.items

// On S3 a version can be purged one minute after it was replaced (H-35). So all cases wait at the same time.
describe.concurrent('A purge', () => {
  it('A purge deletes all old versions for good, but not the file (H-30, H-33)', async () => {
    const path = `${own}/all.txt`
    for (const text of ['1', '22', '333']) await store(path, text)
    const [, old] = await versionsOf(path)
    expect(await purge(path)).toMatchObject({ status: 200, text: '' })
    expect(await sizesOf(path)).toEqual([3])
    expect((await read(path)).text).toBe('333')
    expectError(await read(path, named(old?.version)), 404, 104001)
    expectError(await restore(path, { version: old?.version, replace: true }), 404, 104001)
    expect(await entriesOf(path)).toMatchObject([{ subject: path, details: { count: 2 } }])
    expect((await purge(path)).status).toBe(200)
    expect(await entriesOf(path)).toHaveLength(1)
  })

  it('After a purge of a removed file, nothing can be restored (H-30)', async () => {
    const path = `${own}/removed/a.txt`
    for (const text of ['1', '22']) await store(path, text)
    await remove(path)
    await store(path, '333')
    await remove(path)
    expect((await purge(path)).status).toBe(200)
    expectError(await read(path, '?versions'), 404, 104001)
    expectError(await restore(path), 404, 104001)
    expect((await read(`${own}/removed`, '?deleted')).json.deleted).toEqual([])
    expectError(await purge(path), 404, 104001)
  })

  it.each([
    ['file', '/a.txt'],
    ['folder', ''],
  ])('A removed %s is restored to the version before a purged version (H-30)', async (name, removed) => {
    const folder = `${own}/newest ${name}`
    const path = `${folder}/a.txt`
    for (const text of ['older', 'newest']) await store(path, text)
    await remove(folder + removed)
    const [newest] = await versionsOf(path)
    expect((await purge(path, named(newest?.version))).status).toBe(200)
    expect(await versionsOf(path)).toMatchObject([{ size: 5, removed: true }])
    expect((await read(folder, '?deleted')).json.deleted).toMatchObject([{ name: 'a.txt', size: 5 }])
    expect((await restore(folder + removed)).status).toBe(200)
    expect((await read(path)).text).toBe('older')
  })

  it('A purge of a page also deletes the old versions of its draft (H-30)', async () => {
    const page = `${own}/page.html`
    for (const text of ['1', '22']) await store(page, text)
    for (const text of ['draft 1', 'draft 2']) await store(page, text, '?version=draft')
    expect((await purge(page)).status).toBe(200)
    expect((await read(page)).text).toBe('22')
    expect((await read(page, '?version=draft')).text).toBe('draft 2')
    expect(await entriesOf(page)).toMatchObject([{ details: { count: 2 } }])
  })

  it('A purge answers 104000 for the current, 104001 for an unknown version (H-31)', async () => {
    const path = `${own}/named.txt`
    for (const text of ['1', '22']) await store(path, text)
    const [present] = await versionsOf(path)
    const refused = await purge(path, named(present?.version))
    expectError(refused, 400, 104000)
    expect(refused.json.message).toMatch(/present file/)
    for (const version of ['none', '\u0000', '../../etc']) expectError(await purge(path, named(version)), 404, 104001)
    expectError(await purge(path, '?versionId='), 400, 104000)
    expect(await sizesOf(path)).toEqual([2, 1])
  })

  it('A purge refuses folders, and uses the path as sent (H-31, H-32, S-7)', async () => {
    const path = `${own}/Written/a.txt`
    for (const text of ['1', '22']) await store(path, text)
    expectError(await purge(''), 400, 104014)
    expectError(await purge(`${own}/Written`), 400, 104002)
    expectError(await purge(`${own}/written/a.txt`), 404, 104001)
    expectError(await purge('Templates'), 400, 104020)
    expectError(await call(at('x'.repeat(901), '?versions'), { method: 'DELETE' }), 400, 104009)
    expect(await sizesOf(path)).toEqual([2, 1])
  })

  it('A purge with If-Match fails if the file has another tag (H-32, S-60)', async () => {
    const path = `${own}/conditions.txt`
    for (const text of ['1', '22']) await store(path, text)
    const { headers } = await read(path)
    expectError(await purge(path, '?versions', { 'If-Match': '"another"' }), 412, 100412)
    expectError(await purge(path, '?versions', { 'If-None-Match': '*' }), 412, 100412)
    expect(await sizesOf(path)).toEqual([2, 1])
    expect((await purge(path, '?versions', { 'If-Match': headers['etag'] ?? '' })).status).toBe(200)
    expect(await sizesOf(path)).toEqual([2])
  })
})
