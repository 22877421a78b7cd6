import { describe, expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { namesIn, ownFolder, put, read, remove, upload } from '../support/storage.ts'

const own = ownFolder()

describe('A path in another case', () => {
  const folder = (path: string) => put(path, '', '?type=folder')

  it('A file is found in another case, and folders for a change (S-4, S-5)', async () => {
    await folder('_System/Apps')
    await put(`_System/Apps/${own}/Menu.json`, '{}')
    const found = await read(`_System/apps/${own}/menu.json`)
    expect({ status: found.status, text: found.text }).toEqual({ status: 200, text: '{}' })
    const head = await call(`${storage}/_system/Apps/${own}/MENU.JSON`, { method: 'HEAD' })
    expect({ status: head.status, length: head.headers['x-content-length'] }).toEqual({ status: 200, length: '2' })
    expect((await put(`_system/apps/${own}/second.json`, '2')).status).toBe(200)
    expect(await namesIn(`_System/Apps/${own}`)).toEqual(['Menu.json', 'second.json'])
    expect((await remove(`_System/apps/${own}`)).status).toBe(200)
    expectError(await read(`_System/Apps/${own}`, '?meta'), 404, 104001)
  })

  it('Names and links are those of the path that was found (S-4)', async () => {
    await put(`${own}/Told/Of.txt`, 'x')
    const { json } = await read(`${own}/told`, '?meta')
    expect(json).toMatchObject({ name: 'Told', contents: [{ name: 'Of.txt' }] })
    for (const { links } of [json, ...json.contents]) expect(links[0].uri).toContain(`${own}/Told`)
    expect((await read(`${own}/TOLD/of.TXT`, '?meta')).json).toMatchObject({ name: 'Of.txt', size: 1 })
    expectError(await read(`${own}/told`), 400, 104002)
    expectError(await read(`${own}/told/of`), 404, 104001)
  })

  it('The exact name wins, then the first by code point (S-3, S-4)', async () => {
    for (const name of ['readme', 'Readme', 'README']) await put(`${own}/names/${name}`, name)
    expect((await read(`${own}/names/Readme`)).text).toBe('Readme')
    expect((await read(`${own}/names/readMe`)).text).toBe('README')
    for (const name of ['dir', 'DIR']) await folder(`${own}/names/${name}`)
    await put(`${own}/names/DIR/x`, 'x')
    expectError(await read(`${own}/names/dir/x`), 404, 104001)
    expect((await read(`${own}/names/Dir/x`)).text).toBe('x')
  })

  it('A draft without a live page is found (S-3, S-4)', async () => {
    await put(`${own}/Drafts/New.html`, 'draft', '?version=draft')
    expect((await read(`${own}/drafts/new.html`, '?version=draft')).text).toBe('draft')
    expectError(await read(`${own}/drafts/new.html`), 404, 104001)
  })

  it('A change finds only the folders on the way (S-5, S-6)', async () => {
    await put(`${own}/Change/a.txt`, '1')
    expect((await put(`${own}/change/A.txt`, '2')).status).toBe(200)
    expect((await upload(`${own}/CHANGE`, [{ name: 'b' }])).status).toBe(200)
    expect((await folder(`${own}/change/sub`)).status).toBe(200)
    expect(await namesIn(`${own}/Change`)).toEqual(['A.txt', 'a.txt', 'b', 'sub/'])
    expectError(await remove(`${own}/change`), 404, 104001)
    expectError(await remove(`${own}/change/SUB`), 404, 104001)
    expect((await folder(`${own}/change`)).status).toBe(200)
    expect(await namesIn(`${own}/change`)).toEqual([])
  })

  it('A repeated DELETE of a.txt never takes A.TXT (S-6)', async () => {
    await put(`${own}/Again/a.txt`, 'a')
    await put(`${own}/Again/A.TXT`, 'A')
    expect((await remove(`${own}/again/a.txt`)).status).toBe(200)
    for (const path of ['again', 'Again']) expectError(await remove(`${own}/${path}/a.txt`), 404, 104001)
    expect(await namesIn(`${own}/Again`)).toEqual(['A.TXT'])
  })

  it('The rules of the path that was found apply (S-9)', async () => {
    await put(`Templates/${own}/ok.txt`, 'x')
    expectError(await put(`templates/${own}/t.html`, 'x'), 400, 104008)
    expect((await put(`templates/${own}/t.html`, '{tag_pagecontent}')).status).toBe(200)
    expect(await namesIn(`Templates/${own}`)).toEqual(['ok.txt', 't.html'])
    expect((await remove(`templates/${own}`)).status).toBe(200)
  })

  it('A change with a condition takes the path as written (S-7)', async () => {
    await put(`${own}/Written/a.txt`, 'a')
    const headers = { 'If-None-Match': '*' }
    expect((await put(`${own}/written/b.txt`, 'b', '', { headers })).status).toBe(200)
    expect(await namesIn(`${own}/Written`)).toEqual(['a.txt'])
    expect(await namesIn(`${own}/written`)).toEqual(['b.txt'])
  })

  it('A path of more than 16 segments is not searched (S-8)', async () => {
    const folder = [own, ...Array.from({ length: 14 }, () => 'Deep')].join('/')
    await put(`${folder}/sixteen.txt`, '16')
    await put(`${folder}/more/seventeen.txt`, '17')
    expect((await read(`${folder}/Sixteen.txt`)).text).toBe('16')
    expectError(await read(`${folder}/more/Seventeen.txt`), 404, 104001)
  })

  it('A folder of more than 1,000 entries is not searched (S-8)', async () => {
    const hundred = (request: number) =>
      Array.from({ length: 100 }, (_, index) => ({ name: `f${request}-${index}`, content: '' }))
    // A gateway on a busy machine may refuse one for the time that it takes.
    for (let request = 0; request < 10; request++) {
      await expect
        .poll(async () => (await upload(`${own}/Full`, hundred(request))).status, { timeout: 20_000 })
        .toBe(200)
    }
    expect((await read(`${own}/full/F9-99`)).status).toBe(200)
    await put(`${own}/Full/one more`, 'x')
    expectError(await read(`${own}/full/f9-99`), 404, 104001)
    expect((await read(`${own}/Full/f9-99`)).status).toBe(200)
  })
})
