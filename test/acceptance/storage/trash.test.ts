import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { allPages, move, ownFolder, put, read, remove, restore } from '../support/storage.ts'

const own = ownFolder()

const trash = async (folder: string) => (await read(folder, '?deleted=all')).json.deleted

const pathsIn = async (folder: string): Promise<readonly string[]> =>
  (await trash(folder)).map(({ path }: { path: string }) => path)

it('The trash lists removals at any depth, the newest first (H-37)', async () => {
  const folder = `${own}/all`
  for (const path of ['a/one.txt', 'b/c/two.txt', 'b/c/three.txt', 'kept.txt']) await put(`${folder}/${path}`, '123')
  await remove(`${folder}/a/one.txt`)
  await remove(`${folder}/b`)
  const removal = { removedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), removedBy: expect.any(String) }
  expect(await trash(folder)).toEqual([
    { path: `${folder}/b`, type: 'folder', size: null, ...removal },
    { path: `${folder}/a/one.txt`, type: 'file', size: 3, ...removal },
  ])
})

it('The trash has no moved, restored or replaced files (H-37)', async () => {
  const folder = `${own}/back`
  for (const name of ['moved.txt', 'restored.txt', 'again.txt', 'gone.txt']) await put(`${folder}/${name}`, 'x')
  await move(`${folder}/moved.txt`, `${folder}/elsewhere.txt`)
  for (const name of ['restored.txt', 'again.txt', 'gone.txt']) await remove(`${folder}/${name}`)
  await restore(`${folder}/restored.txt`)
  await put(`${folder}/again.txt`, 'new')
  expect(await pathsIn(folder)).toEqual([`${folder}/gone.txt`])
})

it('A file that was removed twice has one entry in all pages (H-37, H-38)', async () => {
  const folder = `${own}/twice-in-pages`
  for (const [name, text] of [
    ['a.txt', '1'],
    ['b.txt', '1'],
    ['a.txt', '333'],
  ] as const) {
    await put(`${folder}/${name}`, text)
    await remove(`${folder}/${name}`)
  }
  const pages = await allPages((page) => read(folder, `?deleted=all&limit=1${page}`))
  expect(pages.flatMap(({ deleted }) => deleted)).toMatchObject([
    { path: `${folder}/a.txt`, size: 3 },
    { path: `${folder}/b.txt`, size: 1 },
  ])
})

it('The trash comes in pages, and each entry can be restored (H-38)', async () => {
  const folder = `${own}/pages`
  const names = ['1.txt', '2.txt', '3.txt']
  for (const name of names) await put(`${folder}/${name}`, name)
  for (const name of names) await remove(`${folder}/${name}`)
  const pages = await allPages((page) => read(folder, `?deleted=all&limit=2${page}`))
  const paths = pages.flatMap(({ deleted }) => deleted.map(({ path }: { path: string }) => path))
  expect(paths).toEqual(['3.txt', '2.txt', '1.txt'].map((name) => `${folder}/${name}`))
  for (const path of paths) expect((await restore(path)).status).toBe(200)
  expect(await pathsIn(folder)).toEqual([])
})

it.each(['&limit=0', '&cursor=none', `&cursor=${Buffer.from('change:x').toString('base64url')}`])(
  'The trash refuses the query %s with 104000 (H-38)',
  async (query) => {
    expectError(await read('', `?deleted=all${query}`), 400, 104000)
  },
)
