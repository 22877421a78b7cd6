import { expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { namesIn, ownFolder, read, remove, store, upload } from '../support/storage.ts'

const own = ownFolder()

/** Sends the path as written. */
const at = (path: string, options: Parameters<typeof call>[1] = {}) => call(`${storage}/${path}`, options)
const bytes = { 'Content-Type': 'application/octet-stream' }

it('Several slashes count as one, at the start and between names (S-2)', async () => {
  const file = `/_System//Apps///${own}/a.json`
  expect((await at(file, { method: 'PUT', body: '{"a":1}', headers: bytes })).status).toBe(200)
  expect((await at(file)).text).toBe('{"a":1}')
  expect((await read(`_System/Apps/${own}/a.json`)).text).toBe('{"a":1}')
  expect((await at(file, { method: 'DELETE' })).status).toBe(200)
  expectError(await read(`_System/Apps/${own}/a.json`), 404, 104001)
  await remove(`_System/Apps/${own}`)
  expect((await upload(`${own}//runs/`, [{ name: 'c.txt' }])).status).toBe(200)
  expect(await namesIn(`${own}/runs`)).toEqual(['c.txt'])
})

it.each(['%2F', '/%2F/', '%2f%2F'])('Slashes written as %s count as one (S-1, S-2)', async (slashes) => {
  await store(`${own}/encoded/a`, 'a')
  expect((await at(`${slashes}${own}${slashes}encoded${slashes}a`)).text).toBe('a')
})

it.each(['', '/', '//', '%2F'])('The path storage/%s means the root (S-2, S-93, S-109)', async (slashes) => {
  const { json } = await at(`${slashes}?meta`)
  expect(json).toMatchObject({ name: '', type: 'folder', lastModified: null })
  expect((await at(`${slashes}?status`)).json).toHaveProperty('percent')
  expectError(await at(slashes, { method: 'DELETE' }), 400, 104014)
  expectError(await at(slashes, { method: 'PUT', body: 'x' }), 400, 104014)
})

it('Several slashes never lead out of the site (S-10, S-12, S-16)', async () => {
  expectError(await at('/..//x'), 400, 104015)
  expectError(await at('//..%2F/x', { method: 'DELETE' }), 400, 104009)
  expectError(await at(`/${'x'.repeat(256)}`), 400, 104028)
})
