import { afterAll, expect, it, vi } from 'vitest'
import { codeOf, statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { nowhere, putObject, recorded, stageObject } from '../../support/objects.ts'
import { fillFolder, openStorage } from './service.ts'

// Listings of thousands of entries, which would take too long in the acceptance cases, and descriptions that need the
// calls of a store.

const storage = await openStorage({ closes: afterAll })

/** In bytes: the largest answer, as a text within JSON. */
const largestAnswer = 5_000_000

const readPage = async (folder: string, query: Readonly<Record<string, string>>) => {
  const list = vi.spyOn(storage.deps.files, 'list')
  const { text, json } = await storage.get(encodeURI(folder), { meta: '', ...query })
  const answer = json as { contents: { name: string; path?: string }[]; cursor?: string }
  const paths = answer.contents.map(({ name, path = name }) => path)
  const listings = list.mock.calls.length
  list.mockRestore()
  return { paths, bytes: Buffer.byteLength(JSON.stringify(text)), listings, cursor: answer.cursor }
}

type Page = Awaited<ReturnType<typeof readPage>>

/** All pages. `between` runs after the first page. */
const pagesOf = async (folder: string, query: Readonly<Record<string, string>> = {}, between = async () => {}) => {
  const pages: Page[] = []
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await readPage(folder, { ...query, ...(cursor !== undefined && { cursor }) })
    if (isFirst) await between()
    pages.push(page)
    cursor = page.cursor
  }
  return pages
}

const pathsIn = (pages: readonly Page[]) => pages.flatMap(({ paths }) => paths)
const numbered = (count: number, name: (number: string) => string) =>
  Array.from({ length: count }, (_, index) => name(String(index).padStart(5, '0')))

/** Puts empty files below a folder, without the checks of the service. */
const fillFiles = async (folder: string, paths: readonly string[]) => {
  const { site, deps } = storage
  const changes = await Promise.all(
    paths.map(async (path) => {
      const key = `live/${site}${folder}/${path}`
      return { kind: 'put' as const, key, staged: await stageObject(deps.files, key, 'x') }
    }),
  )
  await recorded(deps.files.place(changes, nowhere, entry))
}

it('A listing misses no entry of a folder that grows beyond 10,000 (S-78)', async () => {
  await fillFolder(storage, '/growing', 9_000)
  const grow = async () => void (await fillFolder(storage, '/growing', 12_000))
  const names = new Set(pathsIn(await pagesOf('/growing', { limit: '4000' }, grow)))
  const missing = Array.from({ length: 9_000 }, (_, index) => String(index)).filter((name) => !names.has(name))
  expect(missing).toEqual([])
})

it('A listing misses no entry of a folder that shrinks to 10,000 (S-78)', async () => {
  await fillFolder(storage, '/shrinking', 10_000)
  await storage.put('/shrinking/!!')
  await storage.put('/shrinking/!/x')
  const { paths, cursor = '' } = await readPage('/shrinking', { limit: '1' })
  for (const name of ['1', '2', '3']) await storage.remove(`/shrinking/${name}`)
  // The name "!" is before "!!", but the key "!/" is after it.
  expect([...paths, ...(await readPage('/shrinking', { cursor })).paths]).toEqual(expect.arrayContaining(['!', '!!']))
})

it('In a folder of more than 1,000 entries, only the exact case is found (S-8)', async () => {
  await fillFolder(storage, '/Full', 999)
  await storage.put('/Full/a.txt')
  expect((await storage.get('/full/A.TXT')).status).toBe(200)
  await storage.put('/Full/one more')
  expect(statusAndCode(await storage.get('/full/A.TXT'))).toEqual([404, 104001])
  expect((await storage.get('/Full/a.txt')).status).toBe(200)
})

it('A search in an empty storage finds nothing (S-129)', async () => {
  const empty = await openStorage()
  expect(await empty.get('', { search: 'walrus' })).toMatchObject({ status: 200, json: { items: [] } })
})

it('A search that runs out of time continues on the next page (S-128)', async () => {
  for (const folder of ['left', 'right']) await storage.put(`/${folder}/walrus`)
  const { call } = await storage.as('files:read:/left', 'files:read:/right')
  const search = async (cursor = {}) =>
    (await call('GET', '', { query: { search: 'walrus', ...cursor }, remaining: 5_000 })).json
  const first = await search()
  expect(first).toMatchObject({ items: [{ path: 'left/walrus' }], nextCursor: expect.any(String) })
  const { items, nextCursor } = await search({ cursor: first.nextCursor })
  expect([items, nextCursor]).toMatchObject([[{ path: 'right/walrus' }], undefined])
})

/** Expects several pages below 5 MB. The first page has at least this part of 5 MB. */
const expectFull = (pages: readonly Page[], least: number) => {
  expect(pages.length).toBeGreaterThan(1)
  expect(Math.max(...pages.map(({ bytes }) => bytes))).toBeLessThan(largestAnswer)
  expect(pages[0]?.bytes).toBeGreaterThan(largestAnswer * least)
}

const japanese = (text: string, characters: number): string => text.padEnd(characters, '名')
const deep = `/${japanese('', 20)}/${japanese('', 20)}`

it.each<[string, string, readonly string[]]>([
  ['10,000 entries, sorted by name', `${deep}/sorted`, numbered(10_000, (number) => japanese(number, 20))],
  ['10,001 entries, in the order of the store', `${deep}/stored`, numbered(10_001, (number) => japanese(number, 20))],
  ['long names', '/long', numbered(5_000, (number) => japanese(number, 80))],
  [
    'names and keys in different orders',
    '/orders',
    numbered(5_001, (number) => japanese(number, 60)).flatMap((name) => [name, `${name}-b`]),
  ],
])('A page stays below 5 MB, and the next page continues: %s (S-79)', async (_, folder, names) => {
  await fillFolder(storage, folder, names.length, names)
  const pages = await pagesOf(folder)
  expectFull(pages, folder.startsWith(deep) ? 0.9 : 0)
  expect(pathsIn(pages).toSorted()).toEqual(names.toSorted())
})

const recursively = (folder: string, query = {}) => pagesOf(folder, { recursive: 'true', ...query })

it('A page of a recursive list has at most 1,000 files, with any limit (S-81)', async () => {
  const paths = numbered(2_000, (number) => `${number.slice(0, 3)}/${number}`)
  await fillFiles('/many', paths)
  for (const query of [{}, { limit: '9999' }]) {
    const pages = await recursively('/many', query)
    expect(pages.map((page) => page.paths.length)).toEqual([1_000, 1_000])
    expect(pathsIn(pages)).toEqual(paths)
  }
  expect((await recursively('/many', { limit: '700' })).map((page) => page.paths.length)).toEqual([700, 700, 600])
})

it('A page of a recursive list needs at most ten listings (S-81)', async () => {
  await fillFolder(storage, '/deep', 11_000)
  await fillFiles('/deep', ['zuletzt.txt'])
  const pages = await recursively('/deep')
  expect(pages.map((page) => page.paths)).toEqual([[], ['zuletzt.txt']])
  expect(Math.max(...pages.map((page) => page.listings))).toBe(10)
})

it('A page of a recursive list stays below 5 MB (S-79)', async () => {
  const quotes = Array.from({ length: 3 }, () => '"'.repeat(240)).join('/')
  const paths = numbered(1_000, (number) => `${quotes}/${number}${'"'.repeat(100)}`)
  await fillFiles('/large', paths)
  const pages = await recursively('/large')
  expectFull(pages, 0.9)
  expect(pathsIn(pages)).toEqual(paths)
})

const meta = (path: string, query: Readonly<Record<string, string>> = {}) => storage.get(path, { meta: '', ...query })
/** Stores a file without the object of its folder. */
const putAlone = (path: string) => putObject(storage.deps.files, `live/${storage.site}/${path}`)

it('A folder without its own object has no time (S-75)', async () => {
  await putAlone('by-others/a.txt')
  const [plain, recursive] = [await meta('/by-others'), await meta('/by-others', { recursive: 'true' })]
  expect(plain.json).toMatchObject({ lastModified: null, contents: [{ name: 'a.txt' }] })
  expect(recursive.json).toMatchObject({ lastModified: null, contents: [{ path: 'a.txt' }] })
})

it('A page after the last entry is empty (S-78)', async () => {
  for (const name of ['a', 'b']) await putAlone(`ended/${name}`)
  const { cursor } = (await meta('/ended', { limit: '1' })).json
  await storage.remove('/ended/b')
  expect((await meta('/ended', { cursor })).json).toMatchObject({ type: 'folder', contents: [] })
})

it('A removed folder answers 404/104001, even to a request with a cursor', async () => {
  await fillFolder(storage, '/going', 3)
  const { cursor } = (await meta('/going', { limit: '2' })).json
  await storage.remove('/going')
  for (const query of [{}, { cursor }, { recursive: 'true' }]) expect(codeOf(await meta('/going', query))).toBe(104001)
})

it('?meta of a file waits for its fingerprint as long as the request has time (S-84)', async () => {
  const [asked, fingerprints]: [[string, number][], string[]] = [[], ['made']]
  const { put, call, site, deps } = await openStorage()
  const { find } = deps.files
  vi.spyOn(deps.files, 'find').mockImplementation(async (key) => {
    const info = await find(key)
    return info && { ...info, fingerprint: null }
  })
  vi.spyOn(deps.files, 'fingerprintOf').mockImplementation(async ({ key }, { timeLeft }) => {
    asked.push([key, timeLeft()])
    return fingerprints.pop() ?? null
  })
  await put('/a.bin', 'x')
  const describe = () => call('GET', '/a.bin', { query: { meta: '' }, remaining: 20_000 })
  expect((await describe()).json.fingerprint).toBe('made')
  expect(asked).toEqual([[`live/${site}/a.bin`, 20_000]])
  expect((await describe()).json.fingerprint).toBeNull()
})
