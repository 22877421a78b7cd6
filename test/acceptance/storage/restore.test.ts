import { expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { expectError } from '../support/expectations.ts'
import { move, namesIn, ownFolder, put, read, remove, restore, store, upload, versionsOf } from '../support/storage.ts'

const own = ownFolder()

const refused = (answer: Answer) => expectError(answer, 412, 100412)
const deletedIn = async (folder: string, query = '') => (await read(folder, `?deleted${query}`)).json

it('A removed file is listed, and a restore brings it back (H-17, H-20, H-27)', async () => {
  const path = `${own}/alone/a.txt`
  for (const text of ['old', 'text']) await store(path, text)
  const { headers } = await read(path)
  const { json: before } = await read(path, '?meta')
  await remove(path)
  expect((await read(`${own}/alone`, '?deleted')).json.deleted).toEqual([
    { name: 'a.txt', type: 'file', removedAt: expect.any(String), size: 4 },
  ])
  const { status, json } = await restore(path)
  expect({ status, json }).toEqual({ status: 200, json: { status: 'success' } })
  const after = await read(path)
  expect([after.text, after.headers.etag]).toEqual(['text', headers.etag])
  expect((await read(path, '?meta')).json).toEqual(before)
  expect((await versionsOf(path)).map(({ size, current }) => [size, current])).toEqual([
    [4, true],
    [3, false],
  ])
  expect((await read(`${own}/alone`, '?deleted')).json.deleted).toEqual([])
})

it('A file and a folder whose names end in # are restored (H-20)', async () => {
  for (const [path, file] of [[`${own}/c#`], [`${own}/d#`, `${own}/d#/a.txt`]] as const) {
    await store(file ?? path, 'text')
    await remove(path)
    expect((await restore(path)).status).toBe(200)
    expect((await read(file ?? path)).text).toBe('text')
  }
})

it('A restore overwrites a file only with replace: true (H-24)', async () => {
  const path = `${own}/file/again.txt`
  await store(path, 'old')
  await remove(path)
  await store(path, 'newer')
  const [, old] = await versionsOf(path)
  for (const body of [{}, { version: old?.version }]) expectError(await restore(path, body), 400, 104022)
  expect((await restore(path, { version: old?.version, replace: true })).status).toBe(200)
  expect((await read(path)).text).toBe('old')
  const [present, replaced, removed] = await versionsOf(path)
  expect(present).toMatchObject({ size: 3, current: true })
  expect([replaced?.size, removed?.size]).toEqual([5, 3])
})

it('An older state of a removed file is restored as a new version, once (H-20)', async () => {
  const path = `${own}/file/older.txt`
  for (const text of ['1', '22']) await store(path, text)
  await remove(path)
  const [, oldest] = await versionsOf(path)
  expect((await restore(path, { version: oldest?.version })).status).toBe(200)
  expect((await read(path)).text).toBe('1')
  const restored = await versionsOf(path)
  expect(restored.map(({ size }) => size)).toEqual([1, 2, 1])
  expect((await restore(path, { version: restored[0]?.version })).status).toBe(200)
  expect(await versionsOf(path)).toEqual(restored)
})

it('A restore of a file obeys If-Match and If-None-Match (S-60)', async () => {
  const path = `${own}/file/conditions.html`
  for (const text of ['1', '22']) await store(path, text)
  const [, old] = await versionsOf(path)
  const restoreIf = (headers: Record<string, string>) =>
    restore(path, { version: old?.version, replace: true }, headers)
  refused(await restoreIf({ 'If-Match': '"another"' }))
  refused(await restoreIf({ 'If-None-Match': '*' }))
  expect((await restoreIf({ 'If-Match': (await read(path)).headers['etag'] ?? '' })).status).toBe(200)
  expect((await read(path)).text).toBe('1')
  const [present] = await versionsOf(path)
  refused(await restore(path, { version: present?.version }, { 'If-Match': '"another"' }))
  await store(path, 'draft', '?version=draft')
  const { etag = '' } = (await read(path)).headers
  expect((await restore(path, { version: present?.version }, { 'If-Match': etag })).status).toBe(200)
})

it('A file cannot be restored at the path of a folder, or below a file (H-24, S-41)', async () => {
  const path = `${own}/file/place`
  await store(path, 'a file')
  await remove(path)
  await store(`${path}/below`, 'x')
  for (const body of [{}, { replace: true }]) expectError(await restore(path, body), 400, 104022)
  await remove(path)
  await store(path, 'a file again')
  expectError(await restore(`${path}/below`), 400, 104009)
  expect((await read(path)).text).toBe('a file again')
})

it('A restore of a file also creates its missing parent folders (H-20)', async () => {
  await store(`${own}/file/deep/er/a.txt`, 'a')
  await remove(`${own}/file/deep`)
  expect((await restore(`${own}/file/deep/er/a.txt`)).status).toBe(200)
  expect((await read(`${own}/file/deep/er/a.txt`)).text).toBe('a')
  expect(await namesIn(`${own}/file/deep`)).toEqual(['er/'])
})

it('A moved file can be restored at its old path (H-26)', async () => {
  await store(`${own}/file/from.txt`, 'moved')
  expect((await move(`${own}/file/from.txt`, `${own}/file/to.txt`)).status).toBe(200)
  expect((await restore(`${own}/file/from.txt`)).status).toBe(200)
  expect((await read(`${own}/file/from.txt`)).text).toBe('moved')
})

it('A file that moved away and back still has its old versions (H-26)', async () => {
  const [here, there] = [`${own}/file/here.txt`, `${own}/file/there.txt`]
  await store(here, 'a')
  expect((await move(here, there)).status).toBe(200)
  expect((await move(there, here)).status).toBe(200)
  const [present, old] = await versionsOf(here)
  expect([present?.current, old?.removed]).toEqual([true, true])
  expect(old?.version).not.toBe(present?.version)
  expect((await read(here, `?versionId=${encodeURIComponent(old?.version ?? '')}`)).text).toBe('a')
})

it('A removed folder is restored with every byte below it (H-17, H-19, H-21)', async () => {
  const folder = `${own}/folder`
  const files = Array.from({ length: 30 }, (_, index) => ({ name: `${index}.txt`, content: `text ${index}` }))
  await upload(`${folder}/below`, files)
  await store(`${folder}/empty`, '', '?type=folder')
  for (const version of ['', '?version=draft']) await store(`${folder}/page.html`, `page ${version}`, version)
  expect((await read(folder, '?removal')).json).toMatchObject({ files: 31, folders: 3 })
  await remove(folder)
  expect((await read(own, '?deleted')).json.deleted).toContainEqual({
    name: 'folder',
    type: 'folder',
    removedAt: expect.any(String),
    size: null,
  })
  expect((await deletedIn(folder)).deleted).toMatchObject([{ name: 'below' }, { name: 'empty' }, { name: 'page.html' }])
  expect((await restore(folder)).status).toBe(200)
  expect(await namesIn(folder)).toEqual(['below/', 'empty/', 'page.html'])
  expect((await read(`${folder}/page.html`, '?version=draft')).text).toBe('page ?version=draft')
  const texts = await Promise.all(files.map(({ name }) => read(`${folder}/below/${name}`)))
  expect(texts.map(({ text }) => text)).toEqual(files.map(({ content }) => content))
  expect((await put(`${folder}/later`, 'x')).status).toBe(200)
  expect((await remove(folder)).status).toBe(200)
  expect((await restore(folder)).status).toBe(200)
  expect(await namesIn(folder)).toEqual(['below/', 'empty/', 'later', 'page.html'])
})

it('A folder is restored, even if its parent was removed again without it (H-21)', async () => {
  const parent = `${own}/twice`
  for (const name of ['below/a', 'b']) await store(`${parent}/${name}`, name)
  await remove(parent)
  await restore(`${parent}/b`)
  await remove(parent)
  expect((await restore(`${parent}/below`)).status).toBe(200)
  expect((await read(`${parent}/below/a`)).text).toBe('below/a')
})

it('A removed folder without contents is restored (H-21)', async () => {
  await store(`${own}/bare/folder`, '', '?type=folder')
  await remove(`${own}/bare/folder`)
  expect((await restore(`${own}/bare/folder`)).status).toBe(200)
  expect(await namesIn(`${own}/bare`)).toEqual(['folder/'])
})

it('A restore over other files answers 104022 without replace: true (H-24)', async () => {
  const folder = `${own}/onto`
  for (const name of ['a', 'b']) await store(`${folder}/${name}`, `removed ${name}`)
  await remove(folder)
  for (const name of ['b', 'c']) await store(`${folder}/${name}`, `new ${name}`)
  const answer = await restore(folder)
  expectError(answer, 400, 104022)
  expect(answer.json.message).toContain('Send "replace": true')
  expect(await namesIn(folder)).toEqual(['b', 'c'])
  expect((await restore(folder, { replace: true })).status).toBe(200)
  const texts = await Promise.all(['a', 'b', 'c'].map((name) => read(`${folder}/${name}`)))
  expect(texts.map(({ text }) => text)).toEqual(['removed a', 'removed b', 'new c'])
})

it('A restore over a draft answers 104022 without replace: true (H-24)', async () => {
  const page = `${own}/drafts/page.html`
  await store(page, 'live')
  await remove(`${own}/drafts`)
  await store(page, 'newer draft', '?version=draft')
  expectError(await restore(`${own}/drafts`), 400, 104022)
  expect((await read(page, '?version=draft')).text).toBe('newer draft')
})

it.each<[string, string, string?]>([
  ['x', 'x/y'],
  ['x/y', 'x'],
  ['x', ''],
  ['x', 'x', '?type=folder'],
])('A removed "%s" is not restored while a file is at "%s" (H-24)', async (before, meanwhile, query) => {
  const folder = `${own}/clash`
  const present = meanwhile === '' ? folder : `${folder}/${meanwhile}`
  await store(`${folder}/${before}`, query ? '' : 'removed', query)
  await remove(folder)
  await store(present, 'meanwhile')
  expectError(await restore(folder, { replace: true }), 400, 104022)
  expect((await read(present)).text).toBe('meanwhile')
  await remove(folder)
})

it('A restore of a folder obeys If-Match and If-None-Match (S-60, S-64)', async () => {
  const folder = `${own}/conditions`
  await store(`${folder}/a`, 'a')
  await remove(folder)
  const restoreIf = (headers: Record<string, string>) => restore(folder, { replace: true }, headers)
  refused(await restoreIf({ 'If-Match': '*' }))
  expect((await restoreIf({ 'If-None-Match': '*' })).status).toBe(200)
  await remove(`${folder}/a`)
  refused(await restoreIf({ 'If-None-Match': '*' }))
  await remove(folder)
  await store(folder, 'file')
  refused(await restoreIf({ 'If-None-Match': '*' }))
  expectError(await restoreIf({ 'If-Match': '*' }), 400, 104022)
})

it('The conditions of a restore are checked after the parents of its path (S-64)', async () => {
  const parent = `${own}/parent-of-removed`
  for (const path of [`${parent}/a.txt`, `${parent}/folder/b.txt`]) await store(path, 'x')
  for (const path of [`${parent}/a.txt`, `${parent}/folder`, parent]) await remove(path)
  await store(parent, 'file')
  for (const name of ['a.txt', 'folder']) {
    expectError(await restore(`${parent}/${name}`, {}, { 'If-Match': '*' }), 400, 104009)
  }
})

it('?deleted lists the removed entries of a folder, in pages (H-17, H-18)', async () => {
  const folder = `${own}/listed`
  const names = ['a', 'again', 'b', 'c', 'half/gone', 'half/kept', 'whole/gone', 'whole0']
  for (const name of names) await store(`${folder}/${name}`, name)
  for (const name of ['a', 'again', 'b', 'c', 'half/gone', 'whole', 'whole0']) await remove(`${folder}/${name}`)
  await store(`${folder}/again`, 'again')
  const { deleted, cursor } = await deletedIn(folder, '&limit=2')
  const rest = await deletedIn(folder, `&limit=9&cursor=${encodeURIComponent(cursor)}`)
  const entries: readonly { readonly name: string; readonly removedAt: string }[] = [...deleted, ...rest.deleted]
  const times = new Map(entries.map(({ name, removedAt }) => [name, removedAt]))
  // The key of `whole0` comes directly after the keys of all files in `whole/`.
  const removed = ['a', 'b', 'c', 'whole', 'whole0']
  expect([...times.keys()].toSorted()).toEqual(removed)
  expect([...times.values()].toSorted()).toEqual(removed.map((name) => times.get(name)))
  expect(rest).not.toHaveProperty('cursor')
  expectError(await read(`${own}/never`, '?deleted'), 404, 104001)
})

it.each<[string, string, unknown, number, number?]>([
  ['at a path that never had a file (E-29)', `${own}/never.txt`, {}, 104001, 404],
  ['of the root (H-29)', '', {}, 104014],
  ['with an unknown member', `${own}/refused`, { unknown: 1 }, 104000],
  ['with a number for version', `${own}/refused`, { version: 1 }, 104000],
  ['with an empty version', `${own}/refused`, { version: '' }, 104000],
  ['with a string for replace', `${own}/refused`, { replace: 'true' }, 104000],
  ['with a list', `${own}/refused`, [], 104000],
])('A restore %s is refused (E-28)', async (_, path, body, code, status = 400) => {
  expectError(await restore(path, body), status, code)
})

const preview = async (path: string) => (await read(path, '?removal')).json

it('A preview counts files, drafts, folders and bytes, and removes nothing (H-19)', async () => {
  const folder = `${own}/preview`
  for (const path of ['a-b/x', 'a/b/x', 'a/b/y', 'a/b-c', 'a/c/x.html', 'a.html']) await store(`${folder}/${path}`, '1')
  await store(`${folder}/a/c/x.html`, '22', '?version=draft')
  await store(`${folder}/a/d/only.html`, '333', '?version=draft')
  await store(`${folder}/a/empty`, '', '?type=folder')
  expect(await preview(`${folder}/a`)).toEqual({ files: 5, folders: 5, bytes: 9 })
  expect(await preview(`${folder}/a/c/x.html`)).toEqual({ files: 1, folders: 0, bytes: 3 })
  expect(await preview(folder)).toEqual({ files: 7, folders: 7, bytes: 11 })
  expect((await read(`${folder}/a/b/x`)).text).toBe('1')
})

it('A preview shows the code with which the removal would be refused (H-19)', async () => {
  expect(await preview('')).toMatchObject({ code: 104014 })
  await store(`${own}/leaf`, 'x')
  expectError(await read(`${own}/nothing`, '?removal'), 404, 104001)
  expectError(await read(`${own}/leaf/below`, '?removal'), 400, 104009)
})
