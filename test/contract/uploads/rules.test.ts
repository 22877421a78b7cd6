import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { statusAndCode } from '../../support/answer.ts'
import { entry } from '../../support/history.ts'
import { metadata, openUploads, own, type UploadsUnderTest, uploadIn } from './service.ts'

/** Rules of every upload, proved for a resumable one. */
let service: UploadsUnderTest
let now = Date.UTC(2026, 0, 31, 12)
const hour = 3_600_000
beforeAll(async () => {
  service = await openUploads({ clock: { wall: () => now, monotonic: () => performance.now() } })
})
afterAll(() => service.close())

const put = (path: string, body: string) => service.call('PUT', `/storage/${path}`, { body })

/** Creates an upload and sends all of its bytes. */
const store = async (name: string, body: string, more?: Parameters<UploadsUnderTest['create']>[2]) => {
  const created = await service.create(name, Buffer.byteLength(body), more)
  return created.status === 201 && body !== '' ? service.patch(uploadIn(created), 0, body) : created
}

describe('where a resumable upload goes', () => {
  test('is the folder, which is created with all that it lies in', async () => {
    expect((await store('a.txt', 'hello', { folder: '/new/deep' })).status).toBe(204)
    expect(await service.content('new/deep/a.txt')).toBe('hello')
  })

  test('replaces what is there, and takes its media type from the name', async () => {
    await put('replaced.css', 'old')
    await store('replaced.css', 'new', {
      headers: { 'Upload-Metadata': metadata({ filename: 'replaced.css', filetype: 'x/y' }) },
    })
    const { json } = await service.call('GET', '/storage/replaced.css', { query: { meta: '' } })
    expect(json).toMatchObject({
      size: 3,
      contentType: 'text/css',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
  })

  test('takes the declared media type for a name that says none', async () => {
    await store('typed', 'new', {
      headers: { 'Upload-Metadata': metadata({ filename: 'typed', filetype: 'Image/PNG' }) },
    })
    const { json } = await service.call('GET', '/storage/typed', { query: { meta: '' } })
    expect(json.contentType).toBe('image/png')
  })

  test('counts a file name from its last slash or backslash on', async () => {
    for (const name of ['../../escaped-1.txt', 'C:\\temp\\escaped-2.txt'])
      expect((await store(name, 'x', { folder: '/names' })).status).toBe(204)
    expect(await service.content('names/escaped-1.txt')).toBe('x')
    expect(await service.content('names/escaped-2.txt')).toBe('x')
  })

  test('is the path itself when that ends in the name of the file, unless a folder stands there', async () => {
    await store('self.txt', 'at the path', { folder: '/selves/self.txt' })
    expect(await service.content('selves/self.txt')).toBe('at the path')
    await service.call('PUT', '/storage/selves/folder', { query: { type: 'folder' } })
    await store('folder', 'in the folder', { folder: '/selves/folder' })
    expect(await service.content('selves/folder/folder')).toBe('in the folder')
  })

  test('finds the folder in other case, as any upload does', async () => {
    await put('Cases/there.txt', 'x')
    await store('cased.txt', 'hello', { folder: '/cases' })
    expect(await service.content('Cases/cased.txt')).toBe('hello')
  })

  test('is the draft of a page with version draft; draft-publish stores the page, and its draft is gone', async () => {
    const versioned = (version: string) => ({
      headers: { 'Upload-Metadata': metadata({ filename: 'page.html', version }) },
    })
    await store('page.html', 'live')
    await store('page.html', 'draft', versioned('draft'))
    const draft = () => service.call('GET', '/storage/page.html', { query: { version: 'draft' } })
    expect([(await draft()).text, await service.content('page.html')]).toEqual(['draft', 'live'])
    await store('page.html', 'as with a form')
    expect((await draft()).text).toBe('draft')
    await store('page.html', 'published', versioned('draft-publish'))
    expect([(await draft()).text, await service.content('page.html')]).toEqual(['published', 'published'])
  })
})

describe('a resumable upload is refused at creation', () => {
  test.each([
    ['without a name', { 'Upload-Metadata': 'filetype eA==' }, 104014],
    ['with an empty name', { 'Upload-Metadata': 'filename' }, 104014],
    ['with an illegal name', { 'Upload-Metadata': metadata({ filename: '..' }) }, 104015],
    ['with a name that is not UTF-8', { 'Upload-Metadata': 'filename /w==' }, 104015],
    ['with a name over 255 bytes', { 'Upload-Metadata': metadata({ filename: 'x'.repeat(256) }) }, 104028],
    ['with 8 KB of metadata', { 'Upload-Metadata': metadata({ filename: 'a', note: 'x'.repeat(6_000) }) }, 104000],
    ['with another version', { 'Upload-Metadata': metadata({ filename: 'a', version: 'final' }) }, 104000],
    ['with a condition that is not well-formed', { 'If-Match': 'x' }, 104000],
  ])('%s', async (_, headers, code) => {
    expect(statusAndCode(await service.create('a', 5, { headers }))).toEqual([400, code])
  })

  test('where a folder has its name, a file is on the way, the folder is a file', async () => {
    await put('taken/folder/x', 'x')
    expect(statusAndCode(await service.create('folder', 5, { folder: '/taken' }))).toEqual([400, 104022])
    expect(statusAndCode(await service.create('a', 5, { folder: '/taken/folder/x/below' }))).toEqual([400, 104009])
    expect(statusAndCode(await service.create('a', 5, { folder: '/taken/folder/x' }))).toEqual([400, 104019])
  })

  test('of a page with a running workflow, and into a folder that is being removed', async () => {
    await service.stores.workflows.start(own, toStoragePath('busy.html'), entry)
    expect(statusAndCode(await service.create('busy.html', 5))).toEqual([400, 104012])
    await service.stores.removals.open(own, toStoragePath('going'), 'going', entry)
    expect(statusAndCode(await service.create('a', 5, { folder: '/going/below' }))).toEqual([400, 104010])
  })

  test('of a template over 8 MiB, known or not yet', async () => {
    const template = (length: number | undefined) => service.create('main.html', length, { folder: '/Templates' })
    expect(statusAndCode(await template(8 * 1024 * 1024 + 1))).toEqual([413, 104005])
    const upload = uploadIn(await template(undefined))
    expect(statusAndCode(await service.patch(upload, 0, Buffer.alloc(8 * 1024 * 1024 + 1)))).toEqual([413, 104005])
  })

  test('by the 1,001st that is open (U-17)', async () => {
    const token = await service.issueToken({ user: 'busy' })
    const first = await service.create('open', 5, { token })
    for (let count = 1; count < 1_000; count++) expect((await service.create('open', 5, { token })).status).toBe(201)
    expect(statusAndCode(await service.create('open', 5, { token }))).toEqual([400, 104000])
    expect((await service.create('open', 5)).status).toBe(201)
    await service.call('DELETE', uploadIn(first), { token })
    expect((await service.create('open', 5, { token })).status).toBe(201)
  })
})

describe('a resumable upload that has all of its bytes', () => {
  const refusedAtEnd = async (upload: string, offset: number, body: string, expected: readonly number[]) => {
    const leftovers = service.leftovers()
    expect(statusAndCode(await service.patch(upload, offset, body))).toEqual(expected)
    // It has ended: its bytes are gone.
    expect(service.leftovers()).toBe(leftovers - 1)
    expect(statusAndCode(await service.head(upload))[0]).toBe(404)
    expect(statusAndCode(await service.patch(upload, offset, body))).toEqual([404, 104032])
  }
  const half = async (name: string, more?: Parameters<UploadsUnderTest['create']>[2]) => {
    const upload = uploadIn(await service.create(name, 5, more))
    await service.patch(upload, 0, 'he')
    return upload
  }

  test('is refused when a workflow has begun meanwhile', async () => {
    const upload = await half('meanwhile.html')
    await service.stores.workflows.start(own, toStoragePath('meanwhile.html'), entry)
    await refusedAtEnd(upload, 2, 'llo', [400, 104012])
    expect(await service.content('meanwhile.html')).toBeUndefined()
  })

  test('is refused when its folder is being removed', async () => {
    const upload = await half('a.txt', { folder: '/vanishing' })
    await service.stores.removals.open(own, toStoragePath('vanishing'), 'vanishing', entry)
    await refusedAtEnd(upload, 2, 'llo', [400, 104010])
  })

  test('is refused when a folder has got its name', async () => {
    const upload = await half('name')
    await put('name/below', 'x')
    await refusedAtEnd(upload, 2, 'llo', [400, 104022])
  })

  test.each([
    ['<html></html>', 104008],
    ['<!-- TemplateBeginEditable --><!-- TemplateEndEditable -->', 104006],
    ['<!-- TemplateBeginEditable name="a" --><!-- TemplateEndEditable -->{pagecontent}', 104007],
  ])('is refused as a template when it holds %s', async (body, code) => {
    const created = await service.create('bad.html', Buffer.byteLength(body), { folder: '/Templates' })
    await service.patch(uploadIn(created), 0, body.slice(0, 3))
    await refusedAtEnd(uploadIn(created), 3, body.slice(3), [400, code])
  })

  test('is put in place as a template when it is one', async () => {
    expect((await store('good.html', '{tag_pagecontent}', { folder: '/Templates' })).status).toBe(204)
    expect(await service.content('Templates/good.html')).toBe('{tag_pagecontent}')
  })

  test('says so to those who have lost the last answer, for a day, and a repetition is 409', async () => {
    const upload = await half('lost.txt')
    await service.patch(upload, 2, 'llo')
    expect((await service.head(upload)).headers).toMatchObject({ 'upload-offset': '5', 'upload-length': '5' })
    expect(statusAndCode(await service.patch(upload, 2, 'llo'))).toEqual([409, 104030])
    expect((await service.patch(upload, 5, '')).status).toBe(204)
    now += 24 * hour - 1
    expect((await service.head(upload)).status).toBe(200)
    now += 1
    expect((await service.head(upload)).status).toBe(404)
    expect(await service.content('lost.txt')).toBe('hello')
  })

  test('stays in place when it is cancelled', async () => {
    const upload = await half('kept.txt')
    await service.patch(upload, 2, 'llo')
    expect((await service.call('DELETE', upload)).status).toBe(204)
    expect(await service.content('kept.txt')).toBe('hello')
    expect((await service.head(upload)).status).toBe(404)
  })
})
