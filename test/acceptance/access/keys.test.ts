import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { admin, describeWithAdmin, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { openSite, tokens } from '../support/people.ts'

const day = 24 * 3600 * 1000

/** Creates a site with an owner, and returns the calls on its keys. */
const openKeys = async () => {
  const { site, manager, addPerson, ask } = await openSite()
  const owner = await addPerson()
  const keys = `/api/v2/admin/sites/${site}/keys`
  const askKeys = (method: string, path = '', body?: unknown, token = owner.token) =>
    call(`${keys}${path}`, { method, token, ...(body !== undefined && { body }) })
  const create = async (rights: readonly string[], more: object = {}, token = owner.token) =>
    (await askKeys('POST', '', { name: 'Deployment', rights, ...more }, token)).json
  const put = (key: string, path: string) =>
    call(`/api/v2/admin/sites/${site}/storage${path}`, { method: 'PUT', token: key, body: 'text' })
  const list = async () => (await askKeys('GET')).json.keys
  const signOutEverywhere = (token: string) => call(`${tokens}?all`, { method: 'DELETE', token })
  return { site, manager, owner, addPerson, ask, askKeys, create, put, list, signOutEverywhere }
}

testWithAdmin('A key works in the header, with only its own rights (A-86, A-87, A-88, A-89)', async () => {
  const { create, put, site } = await openKeys()
  const { key, rights } = await create(['files:write:/news', 'files:read:/news'])
  expect({ key, rights }).toEqual({
    key: expect.stringMatching(/^sak_[0-9A-Za-z]{49}$/),
    rights: ['files:write:/news'],
  })
  expect((await put(key, '/news/a.txt')).status).toBe(200)
  expect((await put(`Bearer ${key}`, '/news/b.txt')).status).toBe(200)
  expectError(await put(key, '/a.txt'), 400, 104003)
  expectError(await call(`/api/v1/admin/sites/${site}/webforms`, { token: key }), 403, 100403)
  expectError(await call(`/api/v2/admin/sites/${site}/users`, { token: key }), 403, 100403)
})

testWithAdmin('A key in the query, and a key with a typing error, are refused (A-86, A-90)', async () => {
  const { create, put, site } = await openKeys()
  const { key } = await create(['files:read'])
  for (const name of ['access_token', 'status']) {
    const answer = await call(`/api/v2/admin/sites/${site}/storage?meta&${name}=${key}`, { token: null })
    expectError(answer, 401, 101000)
    expect(answer.json.message).toContain('Authorization')
  }
  const answer = await put(key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x'), '/a.txt')
  expectError(answer, 401, 101000)
  expect(answer.json.message).toContain('checksum')
})

testWithAdmin('The list of keys shows the day of the last use, but no secret (A-88, A-90)', async () => {
  const { create, put, list, owner } = await openKeys()
  const { key, id, expires } = await create(['files:write'], { name: 'Backup' })
  const listed = { id, name: 'Backup', user: owner.name, rights: ['files:write'], expires, lastUsed: null }
  expect(await list()).toEqual([listed])
  await put(key, '/a.txt')
  const today = new Date().toISOString().slice(0, 10)
  await expect.poll(list).toEqual([{ ...listed, lastUsed: expect.toSatisfy((used) => used >= today) }])
  expect(JSON.stringify(await list())).not.toContain(key)
})

testWithAdmin('A key lasts 90 days by default, and at most a year (A-88)', async () => {
  const { create, askKeys } = await openKeys()
  const lifetime = Date.parse((await create(['files:read'])).expires) - Date.now()
  expect(Math.round(lifetime / day)).toBe(90)
  const wanted = new Date(Date.now() + 364 * day).toISOString().replace(/\.\d+/, '.000')
  expect(await create(['files:read'], { expires: wanted })).toMatchObject({ expires: wanted })
  for (const moment of [Date.now() + 367 * day, Date.now() - day]) {
    const expires = new Date(moment).toISOString()
    expectError(await askKeys('POST', '', { name: 'Long', rights: ['files:read'], expires }), 400, 101002)
  }
})

testWithAdmin('The list of keys comes in pages, also when keys have the same name (A-114)', async () => {
  const { create, askKeys, list } = await openKeys()
  for (const name of ['Robot', 'Ärger 🍐', 'Robot']) await create(['files:read'], { name })
  const first = (await askKeys('GET', '?limit=1')).json
  const second = (await askKeys('GET', `?limit=1&cursor=${first.nextCursor}`)).json
  const last = (await askKeys('GET', `?cursor=${second.nextCursor}`)).json
  expect([first, second, last].flatMap(({ keys }) => keys)).toEqual(await list())
  expect([last.keys.length, last.nextCursor]).toEqual([1, undefined])
  expectError(await askKeys('GET', '?limit=0'), 400, 101002)
})

describeWithAdmin('A malformed key', () => {
  let own: Awaited<ReturnType<typeof openKeys>>
  beforeAll(async () => {
    own = await openKeys()
  })

  test.each<[string, object]>([
    ['no name', { rights: ['files:read'] }],
    ['an empty name', { name: '', rights: ['files:read'] }],
    ['a name of two lines', { name: 'a\nb', rights: ['files:read'] }],
    ['no right', { name: 'a', rights: [] }],
    ['an unknown right', { name: 'a', rights: ['files:own'] }],
    ['51 rights', { name: 'a', rights: Array.from({ length: 51 }, (_, index) => `files:read:/${index}`) }],
    ['an expiry that is not a time', { name: 'a', rights: ['files:read'], expires: 'soon' }],
  ])('A request to create a key with %s is refused with 400/101002 (A-88, E-56)', async (_, body) => {
    expectError(await own.askKeys('POST', '', body), 400, 101002)
    expect(await own.list()).toEqual([])
  })
})

testWithAdmin('A revoked key no longer works, and cannot be revoked again (A-13, A-87, E-58)', async () => {
  const { askKeys, create, list, owner, site } = await openKeys()
  const { key, id } = await create(['files:read'])
  const session = createHash('sha256').update(owner.token).digest('hex')
  expect(await askKeys('DELETE', `/${id}`)).toMatchObject({ status: 200, text: '' })
  expectError(await call(`/api/v2/admin/sites/${site}/storage?meta`, { token: key }), 401, 101000)
  expectError(await askKeys('DELETE', `/${id}`), 404, 101010)
  for (const none of ['x', 'f'.repeat(64), 'x'.repeat(3_000), session]) {
    expectError(await askKeys('DELETE', `/${none}`), 404, 101010)
  }
  expect(await list()).toEqual([])
})

testWithAdmin('A key of another site can be neither listed nor revoked (A-87)', async () => {
  const [one, other] = [await openKeys(), await openKeys()]
  const { id } = await one.create(['files:read'])
  expect(await other.list()).toEqual([])
  expectError(await other.askKeys('DELETE', `/${id}`), 404, 101010)
  expect(await one.list()).toHaveLength(1)
})

testWithAdmin('A key loses every right that the owner of the key loses (A-61, A-89)', async () => {
  const { addPerson, ask, create, list, put } = await openKeys()
  const maker = await addPerson({ rights: ['access:write', 'files:write', 'forms:read'] })
  const { key } = await create(['files:write', 'forms:read'], {}, maker.token)
  await ask('PUT', `/${maker.name}`, { rights: ['files:write:/news'] })
  expect(await list()).toMatchObject([{ user: maker.name, rights: ['files:write:/news'] }])
  expectError(await put(key, '/a.txt'), 400, 104003)
  expect((await put(key, '/news/a.txt')).status).toBe(200)
})

testWithAdmin.each<[string, object | null]>([
  ['disabled', { disabled: true }],
  ['removed', null],
])('A key of a person who is %s does not work (A-61)', async (_, change) => {
  const { addPerson, ask, create, list, put, signOutEverywhere } = await openKeys()
  const maker = await addPerson()
  const { key } = await create(['files:write'], {}, maker.token)
  await signOutEverywhere(maker.token)
  expect(await list()).toMatchObject([{ rights: ['files:write'] }])
  await (change ? ask('PUT', `/${maker.name}`, change) : ask('DELETE', `/${maker.name}`))
  expectError(await put(key, '/a.txt'), 401, 101000)
  expect(await list()).toMatchObject([{ user: maker.name, rights: [] }])
  if (change) return
  await addPerson({ role: 'owner' }, maker.name)
  expect(await list()).toMatchObject([{ user: maker.name, rights: [] }])
})

testWithAdmin('A key with a new owner has at most the rights of the owner (A-89, A-103)', async () => {
  const { addPerson, site, list, put } = await openKeys()
  const [ann, bob] = [await addPerson(), await addPerson({ role: 'author', folders: ['/news'] })]
  const options = ['--site', String(site), '--user', ann.name, '--name', 'Robot', '--right', 'files:write']
  const { key, id } = await admin('key', 'create', ...options)
  await admin('key', 'change', id, '--user', bob.name)
  expect(await list()).toMatchObject([{ id, user: bob.name, rights: ['files:write:/news'] }])
  expectError(await put(key, '/a.txt'), 400, 104003)
  expect((await put(key, '/news/a.txt')).status).toBe(200)
})

testWithAdmin('The history names the owner of a new key and of a revoked key (A-109)', async () => {
  const { askKeys, create, site, owner } = await openKeys()
  const { id } = await create(['files:read'])
  await askKeys('DELETE', `/${id}`)
  const { json } = await call(`/api/v2/admin/sites/${site}/changes?type=key.created,key.removed`, {
    token: owner.token,
  })
  const entry = { subject: `key/${id.slice(0, 12)}`, actor: owner.name, details: { user: owner.name } }
  expect(json.items).toMatchObject(['key.created', 'key.removed'].map((type) => ({ type, ...entry })))
})
