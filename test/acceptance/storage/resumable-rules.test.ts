import { expect, it } from 'vitest'
import { testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import type { Call } from '../support/http.ts'
import { duringWorkflow, ownFolder, read, remove, store } from '../support/storage.ts'
import { append, cancel, createUploader, head, metadata, pathOf } from '../support/tus.ts'

const own = ownFolder()
const { create, begin } = createUploader(own)

/** Uploads a whole file to a folder, in one append. */
const uploadWhole = async (folder: string, name: string, body: string, headers: Call['headers'] = {}) => {
  const upload = await createUploader(folder).begin(name, Buffer.byteLength(body), headers)
  expect((await append(upload, 0, body)).status).toBe(204)
}

const beginHalf = async (name: string, headers?: Call['headers']) => {
  const upload = await begin(name, 5, headers)
  await append(upload, 0, 'he')
  return upload
}

it('An upload that replaces a file takes the type from the file name (S-35)', async () => {
  await store(`${own}/types/a.css`, 'old')
  for (const [name, type] of [
    ['a.css', 'text/css'],
    ['typed', 'image/png'],
  ] as const) {
    await uploadWhole(`${own}/types`, name, 'new', {
      'Upload-Metadata': metadata({ filename: name, filetype: 'Image/PNG' }),
    })
    const { json } = await read(`${own}/types/${name}`, '?meta')
    expect(json).toMatchObject({ size: 3, contentType: type })
  }
})

it('The file name of an upload starts after the last slash or backslash (S-15)', async () => {
  for (const name of ['../../a.txt', 'C:\\temp\\b.txt']) await uploadWhole(`${own}/names`, name, name)
  expect((await read(`${own}/names/a.txt`)).text).toBe('../../a.txt')
  expect((await read(`${own}/names/b.txt`)).text).toBe('C:\\temp\\b.txt')
})

it('If a path ends in the name of the upload, the file is stored there (S-34)', async () => {
  await uploadWhole(`${own}/habit/a.txt`, 'a.txt', 'at the path')
  await store(`${own}/habit/folder`, '', '?type=folder')
  await uploadWhole(`${own}/habit/folder`, 'folder', 'in the folder')
  expect((await read(`${own}/habit/a.txt`)).text).toBe('at the path')
  expect((await read(`${own}/habit/folder/folder`)).text).toBe('in the folder')
})

it('A resumable upload ignores the case of the names of folders (S-5)', async () => {
  await store(`${own}/Case/there.txt`, 'x')
  await uploadWhole(`${own}/case`, 'a.txt', 'hello')
  expect((await read(`${own}/Case/a.txt`)).text).toBe('hello')
})

it('With version, a resumable upload stores or publishes a draft (S-48)', async () => {
  const page = `${own}/page.html`
  const versioned = (version: string) => ({ 'Upload-Metadata': metadata({ filename: 'page.html', version }) })
  const both = async () => [(await read(page)).text, (await read(page, '?version=draft')).text]
  await uploadWhole(own, 'page.html', 'live')
  await uploadWhole(own, 'page.html', 'draft', versioned('draft'))
  expect(await both()).toEqual(['live', 'draft'])
  await uploadWhole(own, 'page.html', 'as with a form')
  expect(await both()).toEqual(['as with a form', 'draft'])
  await uploadWhole(own, 'page.html', 'published', versioned('draft-publish'))
  expect(await both()).toEqual(['published', 'published'])
})

it('A new upload must pass the same checks as a PUT (U-11)', async () => {
  await store(`${own}/taken/folder/x`, 'x')
  expectError(await createUploader(`${own}/taken`).create('folder', 5), 400, 104022)
  expectError(await createUploader(`${own}/taken/folder/x/below`).create('a', 5), 400, 104009)
  expectError(await createUploader(`${own}/taken/folder/x`).create('a', 5), 400, 104019)
  expectError(await createUploader(`${own}/taken/folder`).create('x', 5, { 'If-None-Match': '*' }), 412, 100412)
})

testWithAdmin('A running workflow refuses the start and the end of an upload (U-11, S-45)', async () => {
  const upload = await beginHalf('busy.html')
  await duringWorkflow(`${own}/busy.html`, async () => {
    expectError(await create('busy.html', 5), 400, 104012)
    expectError(await append(upload, 2, 'llo'), 400, 104012)
  })
  expectError(await append(upload, 2, 'llo'), 404, 104032)
})

it('A resumable upload of a template has at most 8 MiB (U-13)', async () => {
  const most = 8 * 1024 ** 2
  const templates = createUploader(`Templates/${own}`)
  expectError(await templates.create('a.html', most + 1), 413, 104005)
  const upload = await templates.begin('a.html', undefined)
  expectError(await append(upload, 0, 'x', { 'Upload-Length': String(most + 1) }), 413, 104005)
  const created = await templates.create('a.html', most)
  expect(created.status).toBe(201)
  for (const one of [upload, pathOf(created)]) await cancel(one)
})

it('Conditions are checked again, and a refusal ends the upload (U-11, U-28)', async () => {
  const upload = await beginHalf('mine.txt', { 'If-None-Match': '*' })
  await store(`${own}/mine.txt`, 'theirs')
  expectError(await append(upload, 2, 'llo'), 412, 100412)
  expectError(await append(upload, 2, 'llo'), 404, 104032)
  expect((await head(upload)).status).toBe(404)
  expect((await read(`${own}/mine.txt`)).text).toBe('theirs')
})

it('An upload is refused if its path becomes a folder meanwhile (U-11, U-28)', async () => {
  const upload = await beginHalf('name')
  await store(`${own}/name/below`, 'x')
  expectError(await append(upload, 2, 'llo'), 400, 104022)
  expectError(await append(upload, 2, 'llo'), 404, 104032)
})

it('A template is checked after its last append (U-11, S-21)', async () => {
  await uploadWhole(`Templates/${own}`, 'good.html', '{tag_pagecontent}')
  expect((await read(`Templates/${own}/good.html`)).text).toBe('{tag_pagecontent}')
  const upload = await createUploader(`Templates/${own}`).begin('bad.html', 5)
  await append(upload, 0, 'he')
  expectError(await append(upload, 2, 'llo'), 400, 104008)
  expectError(await append(upload, 2, 'llo'), 404, 104032)
  expect((await remove(`Templates/${own}`)).status).toBe(200)
})

it('After DELETE, an upload is unknown, but a whole file is kept (U-3, U-24, E-52)', async () => {
  const [half, whole] = [await beginHalf('ended.txt'), await beginHalf('kept.txt')]
  await append(whole, 2, 'llo')
  for (const upload of [half, whole]) {
    expect((await cancel(upload)).status).toBe(204)
    expect((await head(upload)).status).toBe(404)
    expectError(await append(upload, 2, 'llo'), 404, 104032)
  }
  expect((await read(`${own}/kept.txt`)).text).toBe('hello')
})
