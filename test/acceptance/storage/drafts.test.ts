import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { namesIn, ownFolder, put, read, remove, rename, restore, store, upload } from '../support/storage.ts'

const own = ownFolder()

const pageWithDraft = async (path: string) => {
  await store(path, 'live')
  await store(path, 'draft', '?version=draft')
}

it('A draft does not change the live page (S-19, S-48, S-71)', async () => {
  await pageWithDraft(`${own}/a.html`)
  expect((await read(`${own}/a.html`)).text).toBe('live')
  expect((await read(`${own}/a.html`, '?version=draft')).text).toBe('draft')
  expect(await namesIn(own)).toContain('a.html')
})

it('Publishing a page removes its draft (S-48)', async () => {
  for (const query of ['', '?version=draft-publish']) {
    await pageWithDraft(`${own}/published.html`)
    await store(`${own}/published.html`, 'newer', query)
    expect((await read(`${own}/published.html`, '?version=draft')).text).toBe('newer')
  }
})

it('A form that replaces a page keeps the draft of the page (S-34, S-48)', async () => {
  await pageWithDraft(`${own}/form.html`)
  await upload(`${own}/form.html`, [{ name: 'form.html', content: 'newer' }])
  expect((await read(`${own}/form.html`)).text).toBe('newer')
  expect((await read(`${own}/form.html`, '?version=draft')).text).toBe('draft')
})

it('Without a draft, version=draft returns the live file (S-20, S-71)', async () => {
  await store(`${own}/plain.html`, 'live')
  expect((await read(`${own}/plain.html`, '?version=draft')).text).toBe('live')
  for (const name of ['b.txt', 'b.html.txt', 'bhtml']) {
    await store(`${own}/${name}`, 'as a draft', '?version=draft')
    expect((await read(`${own}/${name}`)).text).toBe('as a draft')
  }
})

it('DELETE with version=draft removes only the draft (S-99)', async () => {
  await pageWithDraft(`${own}/c.html`)
  for (const _ of ['there is one', 'there is none']) {
    expect((await remove(`${own}/c.html`, '?version=draft')).status).toBe(200)
    expect((await read(`${own}/c.html`, '?version=draft')).text).toBe('live')
  }
})

it('DELETE ignores version=draft on other files and on folders (S-100)', async () => {
  await store(`${own}/ignored/d.txt`, 'x')
  expect((await remove(`${own}/ignored/d.txt`, '?version=draft')).status).toBe(200)
  expect(await namesIn(`${own}/ignored`)).toEqual([])
  expect((await remove(`${own}/ignored`, '?version=draft')).status).toBe(200)
  expectError(await read(`${own}/ignored`, '?meta'), 404, 104001)
})

it('A lone draft becomes the live file if its new name is not a page name (S-111)', async () => {
  await store(`${own}/only/h.html`, 'draft', '?version=draft')
  expect((await rename(`${own}/only/h.html`, 'h')).status).toBe(200)
  expect((await read(`${own}/only/h`)).text).toBe('draft')
  expectError(await read(`${own}/only/h.html`, '?version=draft'), 404, 104001)
})

it('No folder can be created at or below the path of a lone draft (S-112)', async () => {
  const page = `${own}/only/i.html`
  await store(page, 'draft', '?version=draft')
  expectError(await put(page, '', '?type=folder'), 400, 104022)
  expectError(await put(`${page}/new`, '', '?type=folder'), 400, 104009)
  expectError(await put(`${page}/new.txt`, 'x'), 400, 104009)
  expectError(await upload(page, [{ name: 'new.txt', content: 'x' }]), 400, 104019)
  expect((await read(page, '?version=draft')).text).toBe('draft')
  expect(await namesIn(`${own}/only`)).not.toContain('i.html/')
})

it('A restore of a removed page brings its draft back (H-20, H-37)', async () => {
  const folder = `${own}/pages`
  const [page, draft] = [`${folder}/page.html`, `${folder}/draft.html`]
  await store(page, 'live')
  for (const path of [page, draft]) await store(path, 'draft', '?version=draft')
  for (const path of [page, draft]) await remove(path)
  expect((await read(folder, '?deleted=all')).json.deleted).toMatchObject([{ path: draft }, { path: page }])
  for (const path of [page, draft]) {
    expect((await restore(path)).status).toBe(200)
    expect((await read(path, '?version=draft')).text).toBe('draft')
  }
  expect((await read(page)).text).toBe('live')
  expectError(await read(draft), 404, 104001)
  expect((await read(folder, '?deleted=all')).json.deleted).toEqual([])
})
