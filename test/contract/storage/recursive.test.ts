import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { entry } from '../../support/history.ts'
import { nowhere, stageObject } from '../../support/objects.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

let storage: StorageUnderTest
let listings = 0

beforeAll(async () => {
  const counted = (files: ObjectStore): ObjectStore => ({
    ...files,
    list(query) {
      listings += 1
      return files.list(query)
    },
  })
  storage = await openStorage({ between: ({ files }) => ({ files: counted(files) }) })
})
afterAll(() => storage.close())

/** Puts files and folders, whose paths end in a slash, there at once, past all checks. */
const fill = async (folder: string, paths: readonly string[]) => {
  const { site, deps } = storage
  const changes = await Promise.all(
    paths.map(async (path) => {
      const key = `live/${site}/${folder}/${path}`
      if (path.endsWith('/')) return { kind: 'folder' as const, key }
      return { kind: 'put' as const, key, staged: await stageObject(deps.files, key, 'x') }
    }),
  )
  await deps.files.place(changes, nowhere, entry)
}

interface Page {
  readonly paths: readonly string[]
  readonly bytes: number
  readonly listings: number
}

const pagesOf = async (folder: string, query: Record<string, string> = {}): Promise<readonly Page[]> => {
  const pages: Page[] = []
  let cursor: string | undefined
  do {
    listings = 0
    const { text, json } = await storage.get(`/${encodeURI(folder)}`, {
      meta: '',
      recursive: 'true',
      ...query,
      ...(cursor && { cursor }),
    })
    const answer = json as { contents: { path: string; name: string }[]; cursor?: string }
    cursor = answer.cursor
    const paths = answer.contents.map(({ path }) => path)
    expect(answer.contents.map(({ name }) => name)).toEqual(paths.map((path) => path.split('/').at(-1)))
    pages.push({ paths, bytes: Buffer.byteLength(JSON.stringify(text)), listings })
  } while (cursor !== undefined)
  return pages
}

const numbered = (count: number, name: (number: string) => string) =>
  Array.from({ length: count }, (_, index) => name(String(index).padStart(5, '0')))

describe('every file below a folder', () => {
  it('comes once, 1,000 a page, whatever more is asked for (S-81)', async () => {
    const paths = numbered(2_000, (number) => `${number.slice(0, 3)}/${number}`)
    await fill('many', paths)
    for (const query of [{}, { limit: '1000' }, { limit: '9999' }]) {
      const pages = await pagesOf('many', query)
      expect(pages.map((page) => page.paths.length)).toEqual([1_000, 1_000])
      expect(pages.flatMap((page) => page.paths)).toEqual(paths)
    }
    expect((await pagesOf('many', { limit: '700' })).map((page) => page.paths.length)).toEqual([700, 700, 600])
  })

  it('is found behind folders upon folders, with ten listings for an answer at the most', async () => {
    const folders = numbered(11_000, (number) => `${number}/`)
    for (let from = 0; from < folders.length; from += 5_500) await fill('deep', folders.slice(from, from + 5_500))
    await fill('deep', ['zuletzt.txt'])
    const pages = await pagesOf('deep')
    expect(pages.map((page) => page.paths)).toEqual([[], ['zuletzt.txt']])
    expect(Math.max(...pages.map((page) => page.listings))).toBe(10)
  })

  it('is in the order of keys, in which a slash comes behind a hyphen', async () => {
    await fill('order', ['a/x', 'a-b', 'a.txt', 'B', '\u{1f350}', '\uff5e'])
    const [page] = await pagesOf('order')
    expect(page?.paths).toEqual(['B', 'a-b', 'a.txt', 'a/x', '\uff5e', '\u{1f350}'])
  })

  it('is of an answer that stays under 5 MB, and the next one goes on behind it', async () => {
    const deep = Array.from({ length: 3 }, () => '"'.repeat(240)).join('/')
    const paths = numbered(1_000, (number) => `${deep}/${number}${'"'.repeat(100)}`)
    await fill('large', paths)
    const pages = await pagesOf('large')
    expect(pages.length).toBeGreaterThan(1)
    expect(Math.max(...pages.map(({ bytes }) => bytes))).toBeLessThan(5_000_000)
    expect(pages[0]?.bytes).toBeGreaterThan(4_500_000)
    expect(pages.flatMap((page) => page.paths)).toEqual(paths)
  })
})
