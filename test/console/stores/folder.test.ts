import { expect, test } from 'vitest'
import { type Change, type FolderContent, ServiceError, type SiteClient } from '../../../client/src/index.ts'
import { arrange } from '../../../console/files/arrange.ts'
import { createFilesStore } from '../../../console/files/files-store.ts'
import { affectsFolder, createFolder } from '../../../console/files/folder.ts'
import { createTree } from '../../../console/files/tree.ts'
import { formatRoute, parseRoute } from '../../../console/route/routes.ts'
import { numbered } from '../../../console/uploads/paths.ts'
import { changeWith } from '../../client/support/change.ts'
import { entry, siteOf } from '../support/site.ts'

const namesOf = (entries: readonly FolderContent[]) => entries.map(({ name }) => name)

test('folders come first, and numbers sort by value', () => {
  const entries = [entry('b10.txt', { size: 5 }), entry('B2.txt', { size: 9 }), entry('z', { type: 'folder' })]
  expect(namesOf(arrange(entries, { column: 'name', isDescending: false }))).toEqual(['z', 'B2.txt', 'b10.txt'])
  expect(namesOf(arrange(entries, { column: 'size', isDescending: true }))).toEqual(['z', 'B2.txt', 'b10.txt'])
  expect(namesOf(arrange(entries, { column: 'name', isDescending: true }))).toEqual(['z', 'b10.txt', 'B2.txt'])
})

/** A site whose folders answer when the test allows it. */
const heldSite = () => {
  const waiting = new Map<string, (entries: readonly FolderContent[]) => void>()
  const client: SiteClient = siteOf({
    async *list(folder = '', onFolder) {
      const entries = await new Promise<readonly FolderContent[]>((resolve) => waiting.set(folder, resolve))
      onFolder?.(folder)
      yield* entries
    },
  })
  const answer = (path: string, entries: readonly FolderContent[]) => waiting.get(path)?.(entries)
  return { client, folder: createFolder({ client: () => client }), answer }
}

test('a late answer does not replace the folder that was opened after the request', async () => {
  const { folder, answer } = heldSite()
  const first = folder.open('slow')
  const second = folder.open('quick')
  answer('quick', [entry('q')])
  await second
  answer('slow', [entry('s')])
  await first
  expect(namesOf(folder.shown.value)).toEqual(['q'])
  expect(folder.path.value).toBe('quick')
})

test('further pages of a folder that is no longer open are not requested', async () => {
  let pages = 0
  const client = siteOf({
    async *list(folder = '') {
      for (let page = 0; page < 3 && folder === 'large'; page++) {
        pages++
        yield entry(String(page))
      }
    },
  })
  const folder = createFolder({ client: () => client })
  const first = folder.open('large')
  await folder.open('other')
  await first
  expect(pages).toBe(1)
})

test('the tree does not request a folder again after the folder was removed', async () => {
  const asked: string[] = []
  let isThere = true
  const client = siteOf({
    async *list(folder = '') {
      asked.push(folder)
      if (folder === '') {
        if (isThere) yield entry('a', { type: 'folder' })
      } else if (!isThere) throw new ServiceError({ status: 404, code: 104001, message: 'Nothing is there.' })
    },
  })
  const tree = createTree(() => client)
  await tree.reveal('a/b')
  isThere = false
  await tree.refresh()
  asked.length = 0
  await tree.refresh()
  expect(asked).toEqual([''])
})

test('the tree reads a closed folder again after a change', async () => {
  const inside: string[] = []
  const client = siteOf({
    async *list(folder = '') {
      if (folder === '') yield entry('a', { type: 'folder' })
      else for (const name of inside) yield entry(name, { type: 'folder' })
    },
  })
  const tree = createTree(() => client)
  await tree.reveal('a/b')
  expect(tree.rows.value).toMatchObject([{ path: '' }, { path: 'a', mayOpen: false }])
  await tree.toggle('a')
  inside.push('new')
  await tree.refresh()
  expect(tree.rows.value).toMatchObject([{ path: '' }, { path: 'a', mayOpen: true }])
  await tree.toggle('a')
  expect(tree.rows.value.map(({ path }) => path)).toEqual(['', 'a', 'a/new'])
})

test('a rename applies to the folder where it started, whatever folder is open now', async () => {
  const done: string[] = []
  const client = siteOf({
    async *list() {
      yield entry('new')
    },
    async move(from, to) {
      done.push(`${from} > ${to}`)
    },
    async stat() {
      throw new ServiceError({ status: 404, code: 104001, message: '' })
    },
    async createFolder(path) {
      done.push(path)
    },
  })
  const store = createFilesStore(() => client)
  await store.folder.open('elsewhere')
  await store.rename('a/old', 'new')
  await store.createFolder('a', 'new')
  expect(done).toEqual(['a/old > a/new', 'a/new'])
  expect(store.folder.selection.value.chosen).toEqual(new Set())
})

test('entries and selection stay while a folder is read again', async () => {
  const { folder, answer } = heldSite()
  const opened = folder.open('a')
  answer('a', [entry('1'), entry('2')])
  await opened
  folder.chooseAll()
  const again = folder.refresh()
  expect(namesOf(folder.shown.value)).toEqual(['1', '2'])
  answer('a', [entry('2'), entry('3')])
  await again
  // An entry that was removed is not selected when it returns.
  expect(folder.selection.value.chosen).toEqual(new Set(['2']))
})

test('a long read of a folder ends although others change the folder all the time', async () => {
  const { client, answer } = heldSite()
  const store = createFilesStore(() => client)
  const opened = store.folder.open('a')
  const changes = [changeWith({ subject: 'a/2' })]
  store.follow(changes)
  store.follow(changes)
  answer('a', [entry('1')])
  await opened
  expect(namesOf(store.folder.shown.value)).toEqual(['1'])
  answer('a', [entry('1'), entry('2')])
  await expect.poll(() => namesOf(store.folder.shown.value)).toEqual(['1', '2'])
})

test('typed letters select the next name that starts with these letters', async () => {
  const { folder, answer } = heldSite()
  const opened = folder.open('a')
  const names = ['apple', 'banana', 'blue', 'cherry']
  const entries = names.map((name) => entry(name))
  answer('a', entries)
  await opened
  const at = () => folder.selection.value.active
  folder.seek('b')
  expect(at()).toBe('banana')
  folder.seek('b')
  expect(at()).toBe('blue')
  folder.seek('bl')
  expect(at()).toBe('blue')
  folder.seek('x')
  expect(at()).toBe('blue')
})

test('a folder is read again only after a change that may be visible in the folder', () => {
  const isSeen = (change: Partial<Change>) => affectsFolder([changeWith(change)], 'a/b', new Set(['known']))
  expect(isSeen({ subject: 'a/b' })).toBe(true)
  expect(isSeen({ type: 'file.removed', subject: 'a/b/c.txt' })).toBe(true)
  expect(isSeen({ type: 'folder.removed', subject: 'a' })).toBe(true)
  expect(isSeen({ type: 'file.moved', subject: 'x/y', details: { to: 'a/b/y' } })).toBe(true)
  expect(isSeen({ subject: 'a/b/new/deep' })).toBe(true)
  expect(isSeen({ subject: 'a/b/known/deep' })).toBe(false)
  expect(isSeen({ subject: '' })).toBe(false)
  expect(isSeen({ subject: 'a/bc' })).toBe(false)
  expect(isSeen({ type: 'field.created', subject: 'a/b' })).toBe(false)
})

test('a number before the extension keeps a name within 255 bytes (S-12)', () => {
  expect(numbered('a/b.tar.gz', 2)).toBe('a/b.tar (2).gz')
  expect(numbered('.profile', 3)).toBe('.profile (3)')
  expect(numbered('a.b/none', 2)).toBe('a.b/none (2)')
  const long = 'x'.repeat(231)
  expect(numbered(`a/${long}👨\u200d👩\u200d👧ab.txt`, 2)).toBe(`a/${long} (2).txt`)
  const ending = `.${'x'.repeat(253)}`
  expect(numbered(`a${ending}`, 2)).toBe(` (2)${ending}`)
})

test('a path with any characters can be written into an address and read back', () => {
  const path = ['ä ö', '100%', 'a?b#c', '<script>', '🎉', '..', '%2F']
  const route = { site: 1001, view: 'files', path, query: { file: 'a&b=c.txt' } }
  expect(parseRoute(formatRoute(route))).toEqual(route)
  expect(parseRoute('#/0/files/%E0%A4%A')).toEqual({ site: undefined, view: 'files', path: ['%E0%A4%A'], query: {} })
  expect(parseRoute('')).toEqual({ site: undefined, view: 'files', path: [], query: {} })
})
