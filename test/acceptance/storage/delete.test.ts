import { expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { namesIn, ownFolder, read, remove, store } from '../support/storage.ts'

const own = ownFolder()

it('DELETE of a file answers 200 with an empty body (S-91)', async () => {
  await store(`${own}/file/a`, 'a')
  await store(`${own}/file/ab`, 'ab')
  expect(await remove(`${own}/file/a`)).toMatchObject({ status: 200, text: '' })
  expect(await namesIn(`${own}/file`)).toEqual(['ab'])
})

it('DELETE of a folder removes its contents, and nothing else (S-2, S-91, S-98)', async () => {
  for (const path of ['folder/a', 'folder/b/c', 'folder-2/x', 'folders']) await store(`${own}/tree/${path}`, 'x')
  // A slash at the end of the path is ignored, and so is ?meta.
  expect((await call(`${storage}/${own}/tree/folder/?meta`, { method: 'DELETE' })).status).toBe(200)
  expect(await namesIn(`${own}/tree`)).toEqual(['folder-2/', 'folders'])
})

it('DELETE with force=false removes only an empty folder (S-97, S-98, E-48)', async () => {
  await store(`${own}/kept/a`, 'a')
  expectError(await remove(`${own}/kept`, '?force=false'), 403, 104024)
  expectError(await remove(`${own}/kept`, '?version=draft?force=false'), 403, 104024)
  expect(await namesIn(`${own}/kept`)).toEqual(['a'])
  await remove(`${own}/kept/a`)
  expect((await remove(`${own}/kept`, '?force=false')).status).toBe(200)
  expectError(await read(`${own}/kept`, '?meta'), 404, 104001)
})

it('DELETE of a missing or illegal path is refused (S-14, S-92, S-94, E-29, E-37)', async () => {
  expectError(await remove(`${own}/nothing`), 404, 104001)
  await store(`${own}/leaf`, 'x')
  expectError(await remove(`${own}/leaf/below`), 400, 104009)
  for (const path of ['%2e%2e', '/a//.', 'a%00', 'x'.repeat(256)]) {
    expectError(await call(`${storage}/${path}`, { method: 'DELETE' }), 400, 104009)
  }
})

const reservedFolders = ['_System', 'Layouts', 'ModuleTemplates', 'Templates', 'StyleSheets']
it.each(reservedFolders)('DELETE of the reserved folder %s answers 400/104020 (S-17, S-96, E-45)', async (folder) => {
  expectError(await remove(folder), 400, 104020)
})

const malformed = ['?force=maybe', '?force=', '?version=live', '?version=draft?force=x']
it.each([...malformed, '?restore&force=true'])('DELETE with %s answers 104000 (S-98, S-137, E-28)', async (query) => {
  await store(`${own}/values/a`, 'a')
  for (const path of [`${own}/values/a`, `${own}/values`]) expectError(await remove(path, query), 400, 104000)
  expect((await read(`${own}/values/a`)).text).toBe('a')
})
