import { expect } from 'vitest'
import { createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at } from '../support/storage.ts'

/** Sends requests to a new site, which has no reserved folder yet. */
const onNewSite = async () => {
  const token = await issueToken([await createSite('Spelling')], 'files')
  const headers = { 'Content-Type': 'application/octet-stream' }
  return {
    put: (path: string, body: string, query = '') => call(at(path, query), { method: 'PUT', token, headers, body }),
    read: (path: string, query = '') => call(at(path, query), { token }),
    remove: (path: string) => call(at(path), { method: 'DELETE', token }),
    change: (path: string, query: string, method: string, body: object) =>
      call(at(path, query), { method, token, body }),
  }
}

const spellings = ['templates', 'TEMPLATES', 'styleSHEETS', '_system']
testWithAdmin.each(spellings)('A change of %s itself answers 400/104020 (S-18, S-55, H-29)', async (folder) => {
  const site = await onNewSite()
  expect((await site.put(`${folder}/a.txt`, 'x')).status).toBe(200)
  expectError(await site.remove(folder), 400, 104020)
  expectError(await site.change(folder, '?meta', 'PUT', { name: 'x' }), 400, 104020)
  expectError(await site.change(folder, '?meta', 'PUT', { path: 'x/y' }), 400, 104020)
  expectError(await site.change(folder, '?restore', 'POST', {}), 400, 104020)
  expect((await site.read(folder, '?removal')).json).toMatchObject({ files: 1, code: 104020 })
  expect((await site.read('', '?meta')).json.contents).toMatchObject([{ name: folder }])
  expect((await site.remove(`${folder}/a.txt`)).status).toBe(200)
})

testWithAdmin('A folder named templates has templates, not pages (S-18, S-19, S-21)', async () => {
  const site = await onNewSite()
  expectError(await site.put('templates/a.html', 'no tag'), 400, 104008)
  expect((await site.put('templates/a.txt', 'no tag')).status).toBe(200)
  expectError(await site.change('templates/a.txt', '?meta', 'PUT', { name: 'a.html' }), 400, 104008)
  expect((await site.put('templates/a.html', '{pagecontent} 1')).status).toBe(200)
  expect((await site.read('templates/a.html', '?meta')).json).not.toHaveProperty('draft')
  expect((await site.put('templates/a.html', '{pagecontent} 2', '?version=draft')).status).toBe(200)
  expect((await site.read('templates/a.html')).text).toBe('{pagecontent} 2')
})

testWithAdmin('A file may have the name of a reserved folder (S-17, H-29, H-32)', async () => {
  const site = await onNewSite()
  for (const body of ['1', '2']) expect((await site.put('Layouts', body)).status).toBe(200)
  expectError(await site.change('Layouts', '?versionId=none', 'DELETE', {}), 404, 104001)
  expect((await site.remove('Layouts')).status).toBe(200)
  expect((await site.change('Layouts', '?restore', 'POST', {})).status).toBe(200)
  expect((await site.read('Layouts')).text).toBe('2')
})
