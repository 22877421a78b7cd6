import { expect } from 'vitest'
import { issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'
import { allPages, at, namesIn, ownFolder, remove, store, upload } from '../support/storage.ts'

const own = ownFolder()

const tokenWith = async (...rights: readonly string[]) => issueToken([await ownSiteId()], ...rights)

/** Sends requests with a token that has these rights. `path` is decoded. */
const openAs = async (...rights: readonly string[]) => {
  const token = await tokenWith(...rights)
  const ask = (method: string, path: string, query = '', body?: unknown) =>
    call(at(path, query), { method, token, ...(body !== undefined && { body }) })
  return { token, ask, read: (path: string, query?: string) => ask('GET', path, query) }
}

const expectRefused = (answer: Parameters<typeof expectError>[0]) => expectError(answer, 400, 104003)

testWithAdmin('Paths outside the folder of a token answer 104003 (A-35, A-40, A-44)', async () => {
  const { ask, read } = await openAs(`files:write:/${own}/in`)
  await store(`${own}/out/secret.txt`, 'secret')
  await store(`${own}/in/own.txt`, 'own')
  for (const path of [`${own}/out/secret.txt`, `${own}/out/none.txt`, `${own}/into`, `${own}/IN/own.txt`]) {
    const answer = await read(path)
    expectRefused(answer)
    expect(answer.json.message).toContain(`files:read:/${path}`)
    expectRefused(await ask('PUT', path, '', 'x'))
    expectRefused(await ask('PUT', `${own}/in/own.txt`, '?meta', { path }))
  }
  expect((await call(at(`${own}/out/secret.txt`))).text).toBe('secret')
  expectError(await read(`${own}/in/../out/secret.txt`), 400, 104015)
})

testWithAdmin('A token for one folder can neither remove nor move this folder (A-46)', async () => {
  const { ask, read } = await openAs(`files:write:/${own}/kept`)
  await store(`${own}/kept/a.txt`, 'x')
  expectRefused(await ask('DELETE', `${own}/kept`))
  expectRefused(await ask('PUT', `${own}/kept`, '?meta', { name: 'other' }))
  expectRefused(await ask('PUT', `${own}/kept`, '?meta', { path: `${own}/kept/in` }))
  expect((await read(`${own}/kept`, '?removal')).json).toMatchObject({ files: 1, code: 104003 })
  expect((await read(`${own}/kept/a.txt`, '?removal')).json).not.toHaveProperty('code')
  const reader = await openAs(`files:read:/${own}`)
  expect((await reader.read(`${own}/kept/a.txt`, '?removal')).json).toMatchObject({ files: 1, code: 104003 })
})

testWithAdmin('In parent folders, a token sees only folders that lead to its own (A-43, A-45)', async () => {
  const { read } = await openAs(`files:read:/${own}/way/a/b`, `files:read:/${own}/way/c`)
  for (const path of ['a/b/1', 'a/2', 'c/3', 'd/4']) await store(`${own}/way/${path}`, 'x')
  const { json } = await read(`${own}/way`, '?meta')
  expect(json.contents).toMatchObject([
    { name: 'a', lastModified: null },
    { name: 'c', lastModified: null },
  ])
  const all = await read(`${own}/way`, '?meta&recursive=true')
  expect(all.json.contents.map(({ path }: { path: string }) => path)).toEqual(['a/b/1', 'c/3'])
  const names = async (path: string) =>
    (await read(path, '?meta')).json.contents.map((one: { name: string }) => one.name)
  expect([await names(`${own}/way/a`), await names(`${own}/way/c`)]).toEqual([['b'], ['3']])
  const first = (await read(`${own}/way`, '?meta&limit=1')).json
  const second = (await read(`${own}/way`, `?meta&limit=1&cursor=${encodeURIComponent(first.cursor)}`)).json
  expect([first, second]).toMatchObject([{ contents: [{ name: 'a' }] }, { contents: [{ name: 'c' }] }])
  expect(second).not.toHaveProperty('cursor')
  for (const [right, path] of [
    ['way/d/4/own', 'way/d/4'],
    ['way/none/own', 'way'],
  ] as const) {
    const caller = await openAs(`files:read:/${own}/${right}`)
    for (const view of ['?meta', '?search=none', '?search=no'])
      expectError(await caller.read(`${own}/${path}`, view), 404, 104001)
  }
  expectRefused(await read(`${own}/way/d`, '?meta'))
  for (const path of ['a/b/1', 'd/4']) await remove(`${own}/way/${path}`)
  const trash = await read(`${own}/way`, '?deleted=all')
  expect(trash.json.deleted.map(({ path }: { path: string }) => path)).toEqual([`${own}/way/a/b/1`])
})

testWithAdmin("Recursive lists have only the token's folders, on every page (A-45)", async () => {
  const ofRights = ['a/own/1', 'a/own/2', 'b.d/4', 'b/x/3']
  for (const path of [...ofRights, 'a/owner', 'b/y', 'c']) await store(`${own}/all/${path}`, 'x')
  const rights = ['a/own', 'b/x', 'b.d', 'b/x/deeper', 'missing']
  const { read } = await openAs(...rights.map((path) => `files:read:/${own}/all/${path}`))
  for (const limit of [1, 2, 3, 1000]) {
    const pages = await allPages((page) => read(`${own}/all`, `?meta&recursive=true&limit=${limit}${page}`))
    const paths = pages.flatMap(({ contents }) => contents.map(({ path }: { path: string }) => path))
    expect(paths).toEqual(ofRights)
  }
})

testWithAdmin('Lookups that ignore case stay inside the folder of the token (A-41, A-42)', async () => {
  const { ask, read } = await openAs(`files:write:/${own}/case`)
  await store(`${own}/case/Deep/A.txt`, 'x')
  expect((await read(`${own}/case/deep/a.TXT`)).text).toBe('x')
  expectRefused(await read(`${own}/Case/Deep/A.txt`))
  const missing = await openAs(`files:write:/${own}/CASE`)
  expectError(await missing.read(`${own}/CASE/Deep/A.txt`), 404, 104001)
  expectError(await missing.ask('DELETE', `${own}/CASE/Deep/A.txt`), 404, 104001)
  expectError(await missing.ask('PUT', `${own}/CASE/Deep/A.txt`, '?meta', { name: 'B.txt' }), 404, 104001)
  expect((await missing.ask('PUT', `${own}/CASE/own.txt`, '', 'x')).status).toBe(200)
  expect(await namesIn(`${own}/CASE`)).toEqual(['own.txt'])
  expect((await ask('DELETE', `${own}/case/deep/A.txt`)).status).toBe(200)
})

testWithAdmin('A change ignores case only in folders that the token may write to (A-42)', async () => {
  const { ask, read } = await openAs('files:read', `files:write:/${own}/wide`)
  await store(`${own}/Wide/a.txt`, 'outside')
  expect((await read(`${own}/wide/A.TXT`)).text).toBe('outside')
  expectError(await ask('DELETE', `${own}/wide/a.txt`), 404, 104001)
  expectError(await ask('PUT', `${own}/wide/a.txt`, '?meta', { name: 'b.txt' }), 404, 104001)
  expect((await ask('PUT', `${own}/Wide/a.txt`, '?meta', { copyTo: `${own}/wide/b.txt` })).status).toBe(200)
  expect(await namesIn(`${own}/wide`)).toEqual(['b.txt'])
})

const v1 = '/api/v1/admin/sites/current/webforms'
const v3 = '/webresources/api/v3/sites/current/categories'

testWithAdmin('A refusal names the right that the token lacks (A-32, A-38, A-40, E-54)', async () => {
  const forms = await tokenWith('forms:read')
  expect((await call(v1, { token: forms })).status).toBe(200)
  const field = { type: { id: -2 }, mandatory: true }
  const refusals = [
    ['forms:write', await call(`${v1}/1/fields/system`, { method: 'POST', token: forms, body: field })],
    ['categories:read', await call(v3, { token: forms })],
    ['categories:write', await call(`${v3}/1/news`, { method: 'POST', token: forms, body: { items: [] } })],
  ] as const
  for (const [right, answer] of refusals) {
    expectError(answer, 403, 100403)
    expect(answer.json.message).toContain(right)
  }
  expectRefused(await call('/api/v2/admin/sites/current/changes', { token: forms }))
  expectRefused(await call(at('a'), { token: forms }))
})

testWithAdmin('The history shows moves only if the token may read both paths (A-47)', async () => {
  const { token } = await openAs(`files:read:/${own}/reported`, 'history:read')
  for (const name of ['reported', 'secret']) await store(`${own}/${name}/a.txt`, 'x')
  await call(at(`${own}/reported/a.txt`, '?meta'), { method: 'PUT', body: { path: `${own}/reported/b.txt` } })
  await call(at(`${own}/reported/b.txt`, '?meta'), { method: 'PUT', body: { path: `${own}/secret/b.txt` } })
  await call(at(`${own}/secret/a.txt`, '?meta'), { method: 'PUT', body: { copyTo: `${own}/reported/c.txt` } })
  await upload(`${own}/reported`, [{ name: 'd.txt' }, { name: 'e.txt' }])
  const { json } = await call('/api/v2/admin/sites/current/changes?limit=500', { token })
  const seen = json.items.map(({ type, subject }: { type: string; subject: string }) => `${type} ${subject}`)
  expect(seen.filter((text: string) => !/^(?:site|content)\./.test(text))).toEqual([
    `file.stored ${own}/reported/a.txt`,
    `file.moved ${own}/reported/a.txt`,
    `file.stored ${own}/reported`,
  ])
})

testWithAdmin('The permission files is the same as the right files:write (A-39, A-22)', async () => {
  const { json } = await call('/api/v1/admin/sites', { token: await tokenWith(`files:read:/${own}`) })
  expect(json.items[0].permissions).toEqual(['files'])
  const without = await call('/api/v1/admin/sites', { token: await tokenWith('forms:write') })
  expect(without.json.items[0].permissions).toEqual([])
  const whole = await tokenWith('files:write')
  await store(`${own}/a.txt`, 'x')
  expect((await call(at(own, '?meta'), { token: whole })).status).toBe(200)
})
