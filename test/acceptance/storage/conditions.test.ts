import { expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, duringWorkflow, namesIn, ownFolder, put, read, store, upload } from '../support/storage.ts'
import { createUploader } from '../support/tus.ts'

type Headers = Readonly<Record<string, string>>

const own = ownFolder()
let count = 0
const fresh = (name = 'a.txt') => `${own}/${count++}/${name}`

const tagOf = async (path: string, query = ''): Promise<string> => (await read(path, query)).headers['etag'] ?? ''
const putIf = (path: string, content: string | Buffer, headers: Headers, query = '') =>
  put(path, content, query, { headers: { 'Content-Type': 'application/octet-stream', ...headers } })
const postIf = (folder: string, names: readonly string[], content: string, headers: Headers) => {
  const files = names.map((name) => ({ name, content }))
  return upload(folder, files, { headers })
}
const removeIf = (path: string, headers: Headers, query = '') => call(at(path, query), { method: 'DELETE', headers })
const renameIf = (path: string, name: string, headers: Headers) =>
  call(at(path, '?meta'), { method: 'PUT', body: { name }, headers })
const refused = (answer: Answer) => expectError(answer, 412, 100412)
const expectEachRefused = async (path: string, headers: Headers, status = 412, code = 100412) => {
  const changes = [putIf(path, 'refused', headers), removeIf(path, headers), renameIf(path, 'b.txt', headers)]
  for (const answer of await Promise.all(changes)) expectError(answer, status, code)
}

it('PUT, DELETE and rename fail if the file has another tag (S-60, S-65)', async () => {
  const path = fresh()
  await store(path, 'old')
  const old = await tagOf(path)
  expect((await putIf(path, 'new', { 'If-Match': `"x", ${old}` })).status).toBe(200)
  for (const header of [old, '"x"', `W/${await tagOf(path)}`]) await expectEachRefused(path, { 'If-Match': header })
  expect((await read(path)).text).toBe('new')
  expect((await renameIf(path, 'b.txt', { 'If-Match': await tagOf(path) })).status).toBe(200)
  const renamed = path.replace('a.txt', 'b.txt')
  expect((await removeIf(renamed, { 'If-Match': await tagOf(renamed) })).status).toBe(200)
  expectError(await read(renamed), 404, 104001)
})

it('If-Match fails if the file is missing, and * matches any file (S-60, S-63)', async () => {
  const path = fresh()
  for (const header of ['"x"', '*']) await expectEachRefused(path, { 'If-Match': header })
  await store(path, 'old')
  expect((await putIf(path, 'new', { 'If-Match': '*' })).status).toBe(200)
  expect((await removeIf(path, { 'If-Match': '*' })).status).toBe(200)
})

it('If-Match: * matches a folder, but no tag matches it (S-63)', async () => {
  const path = fresh('folder')
  const parent = path.slice(0, -'/folder'.length)
  await store(`${path}/below`, 'x')
  for (const headers of [{ 'If-Match': '"x"' }, { 'If-None-Match': '*' }]) {
    await expectEachRefused(path, headers)
    refused(await postIf(parent, ['folder'], 'x', headers))
  }
  for (const headers of [{ 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
    expectError(await putIf(path, 'x', headers), 400, 104022)
    expectError(await postIf(parent, ['folder'], 'x', headers), 400, 104022)
  }
  expect(await namesIn(path)).toEqual(['below'])
  expect((await renameIf(path, 'other', { 'If-Match': '*' })).status).toBe(200)
  expect((await removeIf(`${parent}/other`, { 'If-Match': '*' })).status).toBe(200)
})

it('If-Match may contain 100 tags', async () => {
  const path = fresh()
  await store(path, 'old')
  const others = Array.from({ length: 99 }, (_, index) => `"${index}"`)
  refused(await putIf(path, 'new', { 'If-Match': others.join(', ') }))
  expect((await putIf(path, 'new', { 'If-Match': [...others, await tagOf(path)].join(', ') })).status).toBe(200)
})

it('A file with a tag that If-None-Match names is not changed (S-60, S-65)', async () => {
  const path = fresh()
  expect((await putIf(path, 'first', { 'If-None-Match': '*' })).status).toBe(200)
  await expectEachRefused(path, { 'If-None-Match': '*' })
  const tag = await tagOf(path)
  for (const header of [tag, `W/${tag}`]) refused(await putIf(path, 'second', { 'If-None-Match': header }))
  expect((await read(path)).text).toBe('first')
  expect((await putIf(path, 'second', { 'If-None-Match': '"x"' })).status).toBe(200)
})

it('If-None-Match: * lets one of several callers create a folder (S-136)', async () => {
  const path = fresh('folder')
  const create = (headers: Headers, folder = path) => putIf(folder, '', headers, '?type=folder')
  refused(await create({ 'If-Match': '*' }))
  const answers = await Promise.all([1, 2, 3].map(() => create({ 'If-None-Match': '*' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412])
  refused(await create({ 'If-None-Match': '*' }))
  refused(await create({ 'If-Match': '"x"' }))
  for (const headers of [{ 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
    expect((await create(headers)).status).toBe(200)
  }
  await store(`${path}/file`, 'x')
  refused(await create({ 'If-None-Match': '*' }, `${path}/file`))
  expectError(await create({ 'If-Match': '*' }, `${path}/file`), 400, 104022)
  expectError(await create({ 'If-Match': '*' }, `${path}/file/below`), 400, 104009)
})

it('A condition on a draft refers to the content that GET returns (S-61)', async () => {
  const path = fresh('page.html')
  await store(path, 'live')
  const live = await tagOf(path)
  refused(await putIf(path, 'draft', { 'If-None-Match': '*' }, '?version=draft'))
  expect((await putIf(path, 'draft', { 'If-Match': live }, '?version=draft')).status).toBe(200)
  refused(await putIf(path, 'late', { 'If-Match': live }, '?version=draft'))
  refused(await removeIf(path, { 'If-Match': live }, '?version=draft'))
  const draft = await tagOf(path, '?version=draft')
  expect((await removeIf(path, { 'If-Match': draft }, '?version=draft')).status).toBe(200)
  expect((await read(path, '?version=draft')).text).toBe('live')
})

it('A DELETE with a condition also removes the draft (S-61, S-91)', async () => {
  const path = fresh('page.html')
  await store(path, 'live')
  await store(path, 'draft', '?version=draft')
  refused(await removeIf(path, { 'If-Match': await tagOf(path, '?version=draft') }))
  expect((await removeIf(path, { 'If-Match': `"x", ${await tagOf(path)}` })).status).toBe(200)
  expectError(await read(path, '?version=draft'), 404, 104001)
  expectError(await removeIf(path, { 'If-None-Match': '*' }), 404, 104001)
})

it('If-None-Match: * applies to each file of a form (S-62)', async () => {
  const folder = `${own}/${count++}`
  await store(`${folder}/b`, 'old')
  refused(await postIf(folder, ['a', 'b'], 'new', { 'If-None-Match': '*' }))
  refused(await postIf(folder, ['a', 'b'], 'new', { 'If-Match': '*' }))
  expect(await namesIn(folder)).toEqual(['b'])
  expect((await postIf(folder, ['a', 'c'], 'new', { 'If-None-Match': '*' })).status).toBe(200)
  expect((await postIf(folder, ['a', 'b'], 'newer', { 'If-Match': '*' })).status).toBe(200)
  expect((await read(`${folder}/b`)).text).toBe('newer')
})

it('A tag for a form with several files is refused with 400/104000 (S-62)', async () => {
  const folder = `${own}/${count++}`
  await store(`${folder}/a`, 'old')
  const tag = await tagOf(`${folder}/a`)
  for (const headers of [{ 'If-Match': tag }, { 'If-Match': '"x"' }, { 'If-None-Match': '"x"' }]) {
    expectError(await postIf(folder, ['a', 'b'], 'new', headers), 400, 104000)
  }
  for (const target of [folder, `${folder}/a`]) {
    refused(await postIf(target, ['a'], 'new', { 'If-Match': '"x"' }))
    refused(await postIf(target, ['a'], 'new', { 'If-None-Match': await tagOf(`${folder}/a`) }))
    expect((await postIf(target, ['a'], 'new', { 'If-Match': await tagOf(`${folder}/a`) })).status).toBe(200)
  }
})

const unreadable = ['x', '"x', '"x" "y"', 'W/x', '*, "x"', '"x";q=1', Array.from({ length: 101 }, () => '"x"').join()]
it.each(unreadable)('The malformed condition %s is refused with 104000 (E-28)', async (header) => {
  const path = fresh()
  await store(path, 'old')
  for (const name of ['If-Match', 'If-None-Match']) {
    await expectEachRefused(path, { [name]: header }, 400, 104000)
    expectError(await postIf(`${own}/form`, ['a'], 'new', { [name]: header }), 400, 104000)
  }
  expect((await read(path)).text).toBe('old')
})

it('Conditions are checked after the path, before names and templates (S-64)', async () => {
  const path = fresh()
  await store(path, 'file')
  const stale = { 'If-Match': '"x"' }
  expectError(await putIf(`${path}/below`, 'x', stale), 400, 104009)
  expectError(await removeIf(`${path}/below`, stale), 400, 104009)
  for (const isChunked of [false, true]) {
    expectError(await upload(path, [{ name: 'below' }], { headers: stale, isChunked }), 400, 104019)
  }
  expectError(await putIf(`${own}/../x`, 'x', stale), 400, 104015)
  await store(`${own}/taken/below`, 'x')
  refused(await putIf(`${own}/taken`, 'x', { 'If-None-Match': '*' }))
  refused(await putIf(`Templates/${own}.html`, 'no template', stale))
  refused(await postIf('Templates', [`${own}.html`], 'no template', stale))
})

testWithAdmin('Conditions are checked before a running workflow (S-64)', async () => {
  const page = fresh('page.html')
  await store(page, 'live')
  await duringWorkflow(page, async () => {
    await expectEachRefused(page, { 'If-Match': '"x"' })
    expectError(await putIf(page, 'x', { 'If-Match': '*' }), 400, 104012)
  })
})

it('Only one of several concurrent changes with a condition succeeds (S-64)', async () => {
  const texts = ['one', 'two']
  const winnerOf = async (changes: readonly Promise<Answer>[]): Promise<number> => {
    const statuses = (await Promise.all(changes)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 412])
    return statuses.indexOf(200)
  }
  for (let round = 0; round < 3; round++) {
    const path = fresh()
    const other = path.replace('a.txt', 'b.txt')
    const putAll = (headers: Headers) => winnerOf(texts.map((text) => putIf(path, text, headers)))
    const created = await putAll({ 'If-None-Match': '*' })
    expect((await read(path)).text).toBe(texts[created])
    await store(path, 'old')
    const replaced = await putAll({ 'If-Match': await tagOf(path) })
    expect((await read(path)).text).toBe(texts[replaced])
    const headers = { 'If-Match': await tagOf(path) }
    const moved = await winnerOf([putIf(path, 'new', headers), renameIf(path, 'b.txt', headers)])
    expect((await read(moved === 0 ? path : other)).status).toBe(200)
    expectError(await read(moved === 0 ? other : path), 404, 104001)
    await store(path, 'old')
    const present = { 'If-Match': await tagOf(path) }
    const removed = await winnerOf([putIf(path, 'new', present), removeIf(path, present)])
    expect((await read(path)).status).toBe(removed === 0 ? 200 : 404)
    const names = ['x', 'y', 'z']
    const form = await winnerOf([
      postIf(`${own}/${round}-form`, names, 'one', { 'If-None-Match': '*' }),
      postIf(`${own}/${round}-form`, names.toReversed(), 'two', { 'If-None-Match': '*' }),
    ])
    for (const name of names) expect((await read(`${own}/${round}-form/${name}`)).text).toBe(texts[form])
  }
})

it('A change with If-Unmodified-Since needs If-Match, too (S-134)', async () => {
  const path = fresh()
  await store(path, 'old')
  const time = { 'If-Unmodified-Since': new Date(Date.now() + 60_000).toUTCString() }
  await expectEachRefused(path, time, 400, 104000)
  expectError(await postIf(`${own}/form`, ['a'], 'new', time), 400, 104000)
  expectError(await createUploader(own).create('c.txt', 1, time), 400, 104000)
  expect((await putIf(path, 'new', { ...time, 'If-Match': await tagOf(path) })).status).toBe(200)
})
