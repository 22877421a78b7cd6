import { expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import {
  at,
  duringWorkflow,
  move,
  namesIn,
  ownFolder,
  put,
  read,
  remove,
  rename,
  store,
  upload,
} from '../support/storage.ts'

const own = ownFolder()

const folder = (path: string) => put(path, '', '?type=folder')

it('A read ignores case in its whole path, a change only in folders (S-4, S-5)', async () => {
  await folder('_System/Apps')
  await store(`_System/Apps/${own}/Menu.json`, '{}')
  expect(await read(`_System/apps/${own}/menu.json`)).toMatchObject({ status: 200, text: '{}' })
  const head = await call(`${storage}/_system/Apps/${own}/MENU.JSON`, { method: 'HEAD' })
  expect(head).toMatchObject({ status: 200, headers: { 'x-content-length': '2' } })
  expect((await put(`_system/apps/${own}/second.json`, '2')).status).toBe(200)
  expect(await namesIn(`_System/Apps/${own}`)).toEqual(['Menu.json', 'second.json'])
  expect((await remove(`_System/apps/${own}`)).status).toBe(200)
  expectError(await read(`_System/Apps/${own}`, '?meta'), 404, 104001)
})

it('Names and links in the answer are spelled as stored (S-4)', async () => {
  await store(`${own}/Reported/Of.txt`, 'x')
  const { json } = await read(`${own}/reported`, '?meta')
  expect(json).toMatchObject({ name: 'Reported', contents: [{ name: 'Of.txt' }] })
  for (const { links } of [json, ...json.contents]) expect(links[0].uri).toContain(`${own}/Reported`)
  expect((await read(`${own}/REPORTED/of.TXT`, '?meta')).json).toMatchObject({ name: 'Of.txt', size: 1 })
  expectError(await read(`${own}/reported`), 400, 104002)
  expectError(await read(`${own}/reported/of`), 404, 104001)
})

it('A read prefers the exact spelling, then the first by code point (S-3, S-4)', async () => {
  for (const name of ['readme', 'Readme', 'README']) await store(`${own}/names/${name}`, name)
  expect((await read(`${own}/names/Readme`)).text).toBe('Readme')
  expect((await read(`${own}/names/readMe`)).text).toBe('README')
  for (const name of ['dir', 'DIR']) await folder(`${own}/names/${name}`)
  await store(`${own}/names/DIR/x`, 'x')
  expectError(await read(`${own}/names/dir/x`), 404, 104001)
  expect((await read(`${own}/names/Dir/x`)).text).toBe('x')
  for (const name of ['E', 'e']) await folder(`${own}/names/deep/${name}`)
  await store(`${own}/names/deep/e/2`, 'e/2')
  expect((await read(`${own}/names/DEEP/e/2`)).text).toBe('e/2')
  await store(`${own}/names/zoo`, 'a file')
  await folder(`${own}/names/ZOO`)
  expect((await read(`${own}/names/Zoo`, '?meta')).json).toMatchObject({ name: 'ZOO', type: 'folder' })
})

it('Letters are compared by Unicode, not by the rules of one language (S-4)', async () => {
  for (const name of ['Ärger', 'ΣΊΣΥΦΟΣ', 'I', 'Straße']) await store(`${own}/unicode/${name}`, name)
  expect((await read(`${own}/unicode/a\u0308RGER`)).text).toBe('Ärger')
  expect((await read(`${own}/unicode/σίσυφος`)).text).toBe('ΣΊΣΥΦΟΣ')
  expect((await read(`${own}/unicode/i`)).text).toBe('I')
  for (const other of ['ı', 'STRASSE']) expectError(await read(`${own}/unicode/${other}`), 404, 104001)
})

it('If a file has the exact name, no folder in another case is used (S-3, S-41)', async () => {
  await store(`${own}/way/leaf`, 'x')
  await store(`${own}/way/LEAF/x`, 'x')
  expectError(await put(`${own}/way/leaf/y`, 'y'), 400, 104009)
  expectError(await remove(`${own}/way/leaf/x`), 400, 104009)
  expectError(await read(`${own}/way/leaf/x`), 404, 104001)
  expectError(await read(`${own}/WAY/none/x`), 404, 104001)
})

it('A draft without a live page is found in another case (S-3, S-4)', async () => {
  await store(`${own}/Drafts/New.html`, 'draft', '?version=draft')
  expect((await read(`${own}/drafts/new.html`, '?version=draft')).text).toBe('draft')
  expectError(await read(`${own}/drafts/new.html`), 404, 104001)
})

it('A change ignores case only in the folders of its path (S-5, S-6)', async () => {
  await store(`${own}/Change/a.txt`, '1')
  expect((await put(`${own}/change/A.txt`, '2')).status).toBe(200)
  expect((await upload(`${own}/CHANGE`, [{ name: 'b' }])).status).toBe(200)
  expect((await folder(`${own}/change/sub`)).status).toBe(200)
  expect(await namesIn(`${own}/Change`)).toEqual(['A.txt', 'a.txt', 'b', 'sub/'])
  expect((await put(`${own}/change/New/deep/c`, 'c')).status).toBe(200)
  expect((await upload(`${own}/CHANGE/A.TXT`, [{ name: 'A.TXT' }])).status).toBe(200)
  expect(await namesIn(`${own}/Change`)).toEqual(['A.TXT', 'A.txt', 'New/', 'a.txt', 'b', 'sub/'])
  expect((await rename(`${own}/change/b`, 'B')).status).toBe(200)
  expect((await move(`${own}/CHANGE/B`, `${own}/CHANGE/moved`)).status).toBe(200)
  expect(await namesIn(`${own}/Change`)).toEqual(['A.TXT', 'A.txt', 'New/', 'a.txt', 'moved', 'sub/'])
  expectError(await remove(`${own}/change`), 404, 104001)
  expectError(await remove(`${own}/change/SUB`), 404, 104001)
  expect((await folder(`${own}/change`)).status).toBe(200)
  expect(await namesIn(`${own}/change`)).toEqual([])
})

it('A repeated DELETE of a.txt never removes A.TXT (S-6)', async () => {
  await store(`${own}/Again/a.txt`, 'a')
  await store(`${own}/Again/A.TXT`, 'A')
  expect((await remove(`${own}/again/a.txt`)).status).toBe(200)
  for (const path of ['again', 'Again']) expectError(await remove(`${own}/${path}/a.txt`), 404, 104001)
  expect(await namesIn(`${own}/Again`)).toEqual(['A.TXT'])
})

it('A preview of a removal finds what DELETE would find (S-5, S-6, H-19)', async () => {
  await store(`${own}/Preview/a.txt`, 'a')
  expect((await read(`${own}/preview/a.txt`, '?removal')).json).toMatchObject({ files: 1, bytes: 1 })
  for (const path of ['preview', 'preview/A.txt']) expectError(await read(`${own}/${path}`, '?removal'), 404, 104001)
})

it('A change follows the rules of the path that lookup found (S-9)', async () => {
  await store(`Templates/${own}/ok.txt`, 'x')
  expectError(await put(`templates/${own}/t.html`, 'x'), 400, 104008)
  expect((await put(`templates/${own}/t.html`, '{tag_pagecontent}')).status).toBe(200)
  expect(await namesIn(`Templates/${own}`)).toEqual(['ok.txt', 't.html'])
  expect((await remove(`templates/${own}`)).status).toBe(200)
})

testWithAdmin('A running workflow of the page is found in another case (S-9, S-45, S-101)', async () => {
  await store(`${own}/Pages/p.html`, 'x')
  await duringWorkflow(`${own}/Pages/p.html`, async () => {
    expectError(await put(`${own}/pages/p.html`, 'x'), 400, 104012)
    expectError(await remove(`${own}/pages/p.html`), 400, 104011)
  })
})

it('A change with a condition uses the path as sent (S-7)', async () => {
  await store(`${own}/Written/a.txt`, 'a')
  const headers = { 'If-None-Match': '*' }
  expect((await put(`${own}/written/b.txt`, 'b', '', { headers })).status).toBe(200)
  expect(await namesIn(`${own}/Written`)).toEqual(['a.txt'])
  expect(await namesIn(`${own}/written`)).toEqual(['b.txt'])
  const ifMatch = { 'If-Match': (await read(`${own}/Written/a.txt`)).headers['etag'] ?? '' }
  expectError(await call(at(`${own}/written/a.txt`), { method: 'DELETE', headers: ifMatch }), 412, 100412)
})

it('A path of more than 16 segments is found only as sent (S-8)', async () => {
  const folder = [own, ...Array.from({ length: 14 }, () => 'Deep')].join('/')
  await store(`${folder}/sixteen.txt`, '16')
  await store(`${folder}/more/seventeen.txt`, '17')
  expect((await read(`${folder}/Sixteen.txt`)).text).toBe('16')
  expectError(await read(`${folder}/more/Seventeen.txt`), 404, 104001)
  const lower = folder.replaceAll('Deep', 'deep')
  expectError(await remove(`${lower}/more/seventeen.txt`), 404, 104001)
  expect((await remove(`${lower}/sixteen.txt`)).status).toBe(200)
  await store(`${lower}/more/new.txt`, 'as written')
  expect(await namesIn(`${folder}/more`)).toEqual(['seventeen.txt'])
})
