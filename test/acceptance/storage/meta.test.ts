import { hash } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { allPages, at, duringWorkflow, namesIn, ownFolder, read, store } from '../support/storage.ts'

const own = ownFolder()
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)

/** The decoded path of an entry, without the base URL. */
const addressOf = (path: string) =>
  expect.stringMatching(new RegExp(`^https?://.*/api/v2/admin/sites/\\d+/storage/${path.replaceAll('.', '\\.')}$`))

const md5 = (content: string) => expect.stringMatching(new RegExp(`^${hash('md5', content, 'hex')}$|-1$`))

const names = ['b', 'a.txt', 'a/x', 'a-b', 'Z', 'é', '😀', '\uffee']
const folder = `${own}/tree`
const paths = ['a/b/deep.txt', 'a.txt', 'a/page.html', 'ä/%41 b+c.txt', 'z', 'a-b', '\u{1f350}', '\uff5e']

beforeAll(async () => {
  await store(`${own}/digits.txt`, '0123456789')
  for (const name of names) await store(`${own}/sorted/${name}`, name)
  for (const path of paths) await store(`${folder}/${path}`, path)
  await store(`${folder}/a/page.html`, 'draft', '?version=draft')
  await store(`${folder}/empty`, '', '?type=folder')
})

it('The description of a file has the members of the contract (S-74, S-76, S-82)', async () => {
  const { json } = await read(`${own}/digits.txt`, '?meta')
  const { headers } = await read(`${own}/digits.txt`)
  expect(json).toEqual({
    name: 'digits.txt',
    type: 'file',
    size: 10,
    lastModified: time,
    contentType: 'text/plain',
    etag: headers['etag'],
    fingerprint: md5('0123456789'),
    links: [{ rel: 'storage', uri: addressOf(`${own}/digits.txt`) }],
  })
  expect(new Date(json.lastModified).toUTCString()).toBe(headers['last-modified'])
})

it('The description of a page includes its draft (S-76)', async () => {
  await store(`${own}/page.html`, 'live')
  expect((await read(`${own}/page.html`, '?meta')).json).toMatchObject({ draft: null, workflow: null })
  await store(`${own}/page.html`, 'a draft', '?version=draft')
  expect((await read(`${own}/page.html`, '?meta')).json).toMatchObject({
    size: 4,
    draft: { size: 7, lastModified: time },
    workflow: null,
  })
})

it('?meta of a lone draft answers 404, and ?meta of a folder has no draft (S-76)', async () => {
  await store(`${own}/only/page.html`, 'x', '?version=draft')
  expectError(await read(`${own}/only/page.html`, '?meta'), 404, 104001)
  await store(`${own}/only/folder.html`, '', '?type=folder')
  const { json } = await read(`${own}/only/folder.html`, '?meta')
  expect(json).toMatchObject({ type: 'folder', contents: [] })
  expect(json).not.toHaveProperty('draft')
})

it('The description ignores limit and cursor, but refuses recursive=true (S-81)', async () => {
  expect((await read(`${own}/digits.txt`, '?meta&limit=1&cursor=eA')).status).toBe(200)
  expectError(await read(`${own}/digits.txt`, '?meta&recursive=true'), 400, 104000)
  expect(await call(at(`${own}/digits.txt`, '?meta'), { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
})

testWithAdmin('The description of a page includes its running workflow (S-76)', async () => {
  await store(`${own}/working.htm`, 'live')
  await duringWorkflow(`${own}/working.htm`, async () => {
    expect((await read(`${own}/working.htm`, '?meta')).json).toMatchObject({ draft: null, workflow: 'running' })
  })
  expect((await read(`${own}/working.htm`, '?meta')).json.workflow).toBeNull()
})

it('The description of a folder shows when the folder was created (S-75)', async () => {
  await store(`${own}/created`, '', '?type=folder')
  const { json } = await read(`${own}/created`, '?meta')
  expect(json).toEqual({
    name: 'created',
    type: 'folder',
    size: 0,
    lastModified: time,
    links: [{ rel: 'storage', uri: addressOf(`${own}/created`) }],
    contents: [],
  })
  await store(`${own}/created`, '', '?type=folder')
  await store(`${own}/created/later.txt`, 'x')
  expect((await read(`${own}/created`, '?meta')).json.lastModified).toBe(json.lastModified)
})

it('The contents of a folder are sorted by name (S-77)', async () => {
  expect(await namesIn(`${own}/sorted`)).toEqual(['Z', 'a/', 'a-b', 'a.txt', 'b', 'é', '\uffee', '😀'])
  const { json } = await read(`${own}/sorted`, '?meta')
  expect(json).toMatchObject({ name: 'sorted', type: 'folder' })
  expect(json.contents[0]).toEqual({
    name: 'Z',
    type: 'file',
    size: 1,
    lastModified: time,
    links: [{ rel: 'storage', uri: addressOf(`${own}/sorted/Z`) }],
  })
  expect(json.contents[1]).toMatchObject({ links: [{ rel: 'storage', uri: addressOf(`${own}/sorted/a`) }] })
})

it('With limit and cursor, the contents come in pages (S-78)', async () => {
  const pages = await allPages((page) => read(`${own}/sorted`, `?meta&limit=3${page}`))
  const names = pages.map(({ contents }) => contents.map(({ name }: { name: string }) => name))
  expect(names.map(({ length }) => length)).toEqual([3, 3, 2])
  expect(await allPages((page) => read(`${own}/sorted`, `?meta&limit=8${page}`))).toHaveLength(1)
  expect(names.flat()).toEqual(['Z', 'a', 'a-b', 'a.txt', 'b', 'é', '\uffee', '😀'])
})

it('A recursive list contains every live file, sorted by path (S-80)', async () => {
  const { contents, cursor } = (await read(folder, '?meta&recursive=true')).json
  const expected = ['a-b', 'a.txt', 'a/b/deep.txt', 'a/page.html', 'z', 'ä/%41 b+c.txt', '\uff5e', '\u{1f350}']
  expect(contents.map(({ path }: { path: string }) => path)).toEqual(expected)
  expect(cursor).toBeUndefined()
})

it('An entry of a recursive list has path, etag and fingerprint (S-80)', async () => {
  const { json } = await read(folder, '?meta&recursive=true')
  const { headers } = await read(`${folder}/a/b/deep.txt`)
  expect(json).toMatchObject({ name: 'tree', type: 'folder', lastModified: time })
  expect(json.contents[2]).toEqual({
    name: 'deep.txt',
    path: 'a/b/deep.txt',
    type: 'file',
    size: 12,
    lastModified: time,
    etag: headers['etag'],
    fingerprint: md5('a/b/deep.txt'),
    links: [{ rel: 'storage', uri: addressOf(`${folder}/a/b/deep.txt`) }],
  })
  expect(json.contents).toHaveLength(paths.length)
  for (const { links } of json.contents) {
    const { origin, pathname } = new URL(links[0].uri)
    expect((await call(pathname, { baseUrl: origin })).status).toBe(200)
  }
})

it('A recursive list is of a folder, which may be empty, or of the site (S-80, E-29)', async () => {
  expect((await read(`${folder}/empty`, '?meta&recursive=true')).json.contents).toEqual([])
  expectError(await read(`${own}/nothing`, '?meta&recursive=true'), 404, 104001)
  const { json } = await call(`${storage}?meta&recursive=true&limit=1`)
  expect([json.contents.length, typeof json.cursor]).toEqual([1, 'string'])
})

it.each([
  ...['&limit=0', '&limit=x', '&limit=-1', '&cursor=%20', '&cursor=eA', '&recursive=false', '&recursive='],
  ...['&recursive=TRUE', '&recursive=1', '&recursive=true&limit=0', '&recursive=true&cursor=eA'],
])('?meta of a folder refuses the query %s with 104000 (S-78, S-81)', async (query) => {
  expectError(await read(folder, `?meta${query}`), 400, 104000)
})

it('A cursor of a list that is not recursive is refused with 104000 (S-78)', async () => {
  const cursorOf = async (query: string) =>
    encodeURIComponent((await read(folder, `?meta&limit=1${query}`)).json.cursor)
  expectError(await read(folder, `?meta&recursive=true&cursor=${await cursorOf('')}`), 400, 104000)
  expectError(await read(folder, `?meta&cursor=${await cursorOf('&recursive=true')}`), 400, 104000)
})
