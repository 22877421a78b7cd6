import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { allPages, move, ownFolder, read, remove, store } from '../support/storage.ts'

const own = ownFolder()

const search = async (folder: string, text: string) => (await read(folder, `?search=${encodeURIComponent(text)}`)).json

const pathsFor = async (text: string, folder = own): Promise<readonly string[]> =>
  (await search(folder, text)).items.map(({ path }: { path: string }) => path).sort()

it.each(['ero', 'er'])('A search finds files and folders by a part of their names: %s (S-127)', async (text) => {
  for (const path of ['a/Hero-1.png', 'a/b/small hero.txt', 'heroes/notes.md', 'none.txt']) {
    await store(`${own}/found/${path}`, 'x')
  }
  const expected = ['a/Hero-1.png', 'a/b/small hero.txt', 'heroes'].map((path) => `${own}/found/${path}`)
  expect(await pathsFor(text, `${own}/found`)).toEqual(expected.sort())
})

it('A search answers with the type, size and time of each entry (S-127)', async () => {
  await store(`${own}/members/zebra/zebra.txt`, '12345')
  const { items } = await search(`${own}/members`, 'ZEBRA')
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  expect(items).toHaveLength(2)
  expect(items).toContainEqual({ path: `${own}/members/zebra`, type: 'folder', size: 0, lastUpdateDate: at })
  expect(items).toContainEqual({ path: `${own}/members/zebra/zebra.txt`, type: 'file', size: 5, lastUpdateDate: at })
})

const literals = ['übung', 'ÜBUNG', '"quoted" *', 'a-b', '日本語', 'ΟΔΟΣ', 'οδος', 'ος']
it.each(literals)('A search is literal, and ignores the case: %s (S-127)', async (text) => {
  await store(`${own}/texts/Übung "quoted" * a-b 日本語 ΟΔΟΣ.txt`, 'x')
  await store(`${own}/texts/ubung quoted a b.txt`, 'x')
  expect(await pathsFor(text, `${own}/texts`)).toEqual([`${own}/texts/Übung "quoted" * a-b 日本語 ΟΔΟΣ.txt`])
})

it('A search finds moved files at the new path, but no removed files (S-127)', async () => {
  for (const name of ['walrus-1.txt', 'walrus-2.txt']) await store(`${own}/moving/${name}`, 'x')
  expect(await pathsFor('walrus')).toHaveLength(2)
  await remove(`${own}/moving/walrus-1.txt`)
  await move(`${own}/moving/walrus-2.txt`, `${own}/moving/to/walrus-3.txt`)
  await store(`${own}/moving/walrus-2.txt`, 'again')
  expect(await pathsFor('walrus')).toEqual([`${own}/moving/to/walrus-3.txt`, `${own}/moving/walrus-2.txt`])
})

it.each(['okapi', 'ok'])('A search comes in pages, without gaps or repeats: %s (S-128)', async (text) => {
  const names = Array.from({ length: 7 }, (_, index) => `${own}/pages/${index % 2}/okapi-${index}.txt`)
  for (const name of names) await store(name, 'x')
  const pages = await allPages((page) => read(own, `?search=${text}&limit=3${page}`))
  const found = pages.map(({ items }) => items.map(({ path }: { path: string }) => path))
  expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(3)
  expect(found.flat().toSorted()).toEqual(names.toSorted())
})

it('A search finds nothing outside its folder, and refuses a missing one (S-129)', async () => {
  await store(`${own}/inside/lemur.txt`, 'x')
  await store(`${own}/outside/lemur.txt`, 'x')
  expect(await pathsFor('lemur', `${own}/inside`)).toEqual([`${own}/inside/lemur.txt`])
  expect(await pathsFor('nothing like this', `${own}/inside`)).toEqual([])
  expectError(await read(`${own}/never`, '?search=lemur'), 404, 104001)
})

const malformed = [
  '?search=',
  `?search=${'x'.repeat(256)}`,
  '?search=a%2Fb',
  '?search=%00',
  '?search=abc&limit=0',
  '?search=abc&cursor=none',
  `?search=ab&cursor=${Buffer.from('keys:\nlive/').toString('base64url')}`,
  `?search=abc&cursor=${Buffer.from('index:\nlive/').toString('base64url')}`,
].map((query) => ({ start: query.slice(0, 50), query }))
it.each(malformed)('A search refuses the query $start with 104000 (S-127, S-129)', async ({ query }) => {
  await store(`${own}/asked/a.txt`, 'x')
  expectError(await read(`${own}/asked`, query), 400, 104000)
})
