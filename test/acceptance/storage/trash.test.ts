import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { allPages, move, ownFolder, purge, read, remove, restore, store } from '../support/storage.ts'

const own = ownFolder()

const trash = async (folder: string) => (await read(folder, '?deleted=all')).json.deleted

const pathsIn = async (folder: string): Promise<readonly string[]> =>
  (await trash(folder)).map(({ path }: { path: string }) => path)

it('The trash lists removals at any depth, the newest first (H-37)', async () => {
  const folder = `${own}/all`
  for (const path of ['a/one.txt', 'b/c/two.txt', 'b/c/three.txt', 'kept.txt']) await store(`${folder}/${path}`, '123')
  await remove(`${folder}/a/one.txt`)
  await remove(`${folder}/b`)
  const removal = { removedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), removedBy: expect.any(String) }
  expect(await trash(folder)).toEqual([
    { path: `${folder}/b`, type: 'folder', size: null, ...removal },
    { path: `${folder}/a/one.txt`, type: 'file', size: 3, ...removal },
  ])
  expect(await pathsIn(`${folder}/b`)).toEqual([])
})

it('The trash has no moved, restored or replaced files (H-37)', async () => {
  const folder = `${own}/back`
  for (const name of ['moved.txt', 'restored.txt', 'again.txt', 'gone.txt']) await store(`${folder}/${name}`, 'x')
  await move(`${folder}/moved.txt`, `${folder}/elsewhere.txt`)
  for (const name of ['gone.txt', 'restored.txt', 'again.txt']) await remove(`${folder}/${name}`)
  await restore(`${folder}/restored.txt`)
  await store(`${folder}/again.txt`, 'new')
  const { deleted } = (await read(folder, '?deleted=all&limit=1')).json
  expect(deleted).toMatchObject([{ path: `${folder}/gone.txt` }])
})

it.each(['a.txt', 'a.txt/below'])('A path that was removed again as %s is listed once (H-37)', async (again) => {
  const folder = `${own}/twice-in-pages/${again.length}`
  for (const path of ['a.txt', 'b.txt', again]) {
    await store(`${folder}/${path}`, path)
    await remove(`${folder}/${path.split('/', 1)}`)
  }
  const pages = await allPages((page) => read(folder, `?deleted=all&limit=1${page}`))
  const paths = pages.flatMap(({ deleted }) => deleted.map(({ path }: { path: string }) => path))
  expect(paths).toEqual([`${folder}/a.txt`, `${folder}/b.txt`])
})

it('A folder stays in the trash if a later file of its name was purged (H-37)', async () => {
  const folder = `${own}/purged`
  await store(`${folder}/a/below.txt`, 'x')
  await remove(`${folder}/a`)
  await store(`${folder}/a`, 'x')
  await remove(`${folder}/a`)
  await purge(`${folder}/a`)
  expect(await trash(folder)).toMatchObject([{ path: `${folder}/a`, type: 'folder' }])
})

it('A removed folder leaves the trash when its path exists again (H-37)', async () => {
  const folder = `${own}/again`
  for (const name of ['a', 'b']) await store(`${folder}/in/${name}`, 'removed')
  await remove(`${folder}/in`)
  await store(`${folder}/in/a`, 'new')
  expect(await pathsIn(folder)).toEqual([])
  expect((await read(`${folder}/in`, '?deleted')).json.deleted).toMatchObject([{ name: 'b' }])
  expect((await restore(`${folder}/in`, { replace: true })).status).toBe(200)
  expect((await read(`${folder}/in/b`)).text).toBe('removed')
})

it.each([
  ['folder', 'a file', '/below', '', ''],
  ['folder', 'a draft', '/below', '', '?version=draft'],
  ['file', 'a folder', '', '/below', ''],
])('A removed %s leaves the trash when its path is %s (H-24, H-37)', async (kind, other, gone, present, query) => {
  const folder = `${own}/${kind} or ${other}`
  const path = `${folder}/page.html`
  await store(`${path}${gone}`, 'removed')
  await remove(path)
  for (const text of ['1', '2']) await store(`${path}${present}`, text, query)
  expect(await pathsIn(folder)).toEqual([])
  for (const body of [{}, { replace: true }]) {
    const answer = await restore(path, body)
    expectError(answer, 400, 104022)
    expect(answer.json.message).not.toContain('replace')
  }
  expect((await read(`${path}${present}`, query)).text).toBe('2')
})

it('The trash comes in pages, and each entry can be restored (H-38)', async () => {
  const folder = `${own}/pages`
  const names = ['1.txt', '2.txt', '3.txt']
  for (const name of names) await store(`${folder}/${name}`, name)
  for (const name of names) await remove(`${folder}/${name}`)
  const pages = await allPages((page) => read(folder, `?deleted=all&limit=2${page}`))
  expect(Math.max(...pages.map(({ deleted }) => deleted.length))).toBeLessThanOrEqual(2)
  const paths = pages.flatMap(({ deleted }) => deleted.map(({ path }: { path: string }) => path))
  expect(paths).toEqual(['3.txt', '2.txt', '1.txt'].map((name) => `${folder}/${name}`))
  for (const path of paths) expect((await restore(path)).status).toBe(200)
  expect(await pathsIn(folder)).toEqual([])
})

it('A page of the trash looks at a few removals only, so it may be empty (H-38)', async () => {
  const folder = `${own}/replaced`
  await store(`${folder}/gone.txt`, 'gone')
  await remove(`${folder}/gone.txt`)
  for (let times = 0; times < 6; times++) {
    await store(`${folder}/there.txt`, 'there')
    await remove(`${folder}/there.txt`)
  }
  await store(`${folder}/there.txt`, 'there')
  const pages = await allPages((page) => read(folder, `?deleted=all&limit=1${page}`))
  expect(pages[0].deleted).toEqual([])
  expect(pages.flatMap(({ deleted }) => deleted)).toMatchObject([{ path: `${folder}/gone.txt` }])
})

const malformed = ['&limit=0', '&cursor=none', `&cursor=${Buffer.from('change:x').toString('base64url')}`]
it.each(malformed)('The trash refuses the query %s with 104000 (H-38)', async (query) => {
  expectError(await read('', `?deleted=all${query}`), 400, 104000)
})
