import { beforeAll, expect, it } from 'vitest'
import { target } from '../setup/target.ts'
import { describeWithAdmin, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { accept, me, newName, openSite, signIn } from '../support/people.ts'
import { append, inTus, metadata, pathOf } from '../support/tus.ts'

const changesOf = async (site: number, token: string, type: string) =>
  (await call(`/api/v2/admin/sites/${site}/changes?type=${type}`, { token })).json.items

testWithAdmin('A site lists its people by name, and knows no others (A-51, A-53, A-56, E-58)', async () => {
  const [here, there] = [await openSite(), await openSite()]
  const names = [newName('b'), newName('A')]
  for (const name of names) await here.invite({ role: 'editor' }, name)
  await there.ask('POST', '', { name: names[0], rights: ['files:read:/x', 'forms:write'] })
  const { users } = (await here.ask('GET')).json
  expect(users.map(({ name }: { name: string }) => name)).toEqual(names.toReversed())
  expect(users[1]).toMatchObject({ role: 'editor', disabled: false, invited: true, lastSignIn: null })
  expect((await there.ask('GET')).json.users).toMatchObject([
    { name: names[0], role: null, rights: ['files:read:/x', 'forms:write'] },
  ])
  for (const [method, body] of [['GET'], ['PUT', { role: 'viewer' }], ['DELETE']] as const) {
    expectError(await there.ask(method, `/${names[1]}`, body), 404, 101010)
  }
  for (const none of ['x'.repeat(3_000), '%20']) expectError(await there.ask('GET', `/${none}`), 404, 101010)
})

testWithAdmin('A name with an encoded slash is the name of nobody (E-58)', async () => {
  expectError(await (await openSite()).ask('GET', '/a%2Fb'), 404, 101010)
})

testWithAdmin('Two names must not differ only in case, or look alike (A-52, E-59)', async () => {
  const { ask, invite } = await openSite()
  const name = newName()
  await invite({ role: 'viewer' }, name)
  expectError(await ask('POST', '', { name, role: 'viewer' }), 409, 101011)
  expectError(await (await openSite()).ask('POST', '', { name: name.toUpperCase(), role: 'viewer' }), 409, 101011)
  const controls = ['a\u0000', 'ann\n', 'ann\u200b']
  for (const bad of ['', 'a b', 'änn', '\u0430nn', 'x'.repeat(65), 'a/b', '.', '..', ...controls]) {
    expectError(await ask('POST', '', { name: bad, role: 'viewer' }), 400, 101002)
  }
  for (const reserved of ['Storage', 'uploads', 'changes']) {
    expectError(await ask('POST', '', { name: reserved, role: 'viewer' }), 400, 101002)
  }
  for (const good of ['...', newName('Lee-1_2@example.com+'), newName().padEnd(64, 'x')]) {
    expect((await ask('POST', '', { name: good, role: 'viewer' })).status).toBe(201)
    expect((await ask('DELETE', `/${good}`)).status).toBe(200)
  }
  expect((await ask('GET', `/${name.toUpperCase()}`)).json.name).toBe(name)
})

testWithAdmin('The list of people comes in pages (A-114, E-56)', async () => {
  const { ask, invite } = await openSite()
  for (const start of ['b', 'A', 'c']) await invite({ role: 'editor' }, newName(start))
  const { users, nextCursor: none } = (await ask('GET')).json
  const first = (await ask('GET', '?limit=2')).json
  const last = (await ask('GET', `?limit=2&cursor=${first.nextCursor}`)).json
  expect([first.users.length, [...first.users, ...last.users]]).toEqual([2, users])
  expect([none, last.nextCursor]).toEqual([undefined, undefined])
  for (const limit of ['0', '-1', 'x', '']) expectError(await ask('GET', `?limit=${limit}`), 400, 101002)
  const foreign = Buffer.from('keys a').toString('base64url')
  for (const cursor of ['x', `${first.nextCursor}x`, foreign]) {
    expectError(await ask('GET', `?cursor=${cursor}`), 400, 101002)
  }
})

testWithAdmin('A change with If-Match applies only to the state that it names (A-115, E-12)', async () => {
  const { ask, addPerson, manager } = await openSite()
  const { name } = await addPerson({ role: 'viewer' })
  const tagNow = async () => (await ask('GET', `/${name}`)).headers['etag'] ?? ''
  const before = await tagNow()
  expect((await ask('PUT', `/${name}`, { role: 'editor' }, manager, before)).status).toBe(200)
  for (const [method, change] of [['PUT', { role: 'owner' }], ['PUT', { disabled: true }], ['DELETE']] as const) {
    expectError(await ask(method, `/${name}`, change, manager, before), 412, 100412)
  }
  expect((await ask('GET', `/${name}`)).json).toMatchObject({ role: 'editor', disabled: false })
  expectError(await ask('PUT', `/${newName()}`, { role: 'editor' }, manager, '*'), 404, 101010)
  expect((await ask('DELETE', `/${name}`, undefined, manager, await tagNow())).status).toBe(200)
})

testWithAdmin('With access:read, the history shows each change of a person (A-47, A-85, A-109)', async () => {
  const { site, ask, invite, manager } = await openSite()
  const name = newName()
  await invite({ role: 'viewer' }, name)
  await ask('PUT', `/${name}`, { role: 'editor' })
  await ask('PUT', `/${name}`, { invite: true })
  await ask('DELETE', `/${name}`)
  const types = ['user.created', 'user.changed', 'user.invited', 'user.removed']
  for (const type of types) {
    const changes = await changesOf(site, manager, type)
    expect(changes).toMatchObject([{ type, subject: `user/${name}`, actor: 'acceptance' }])
  }
  const plain = await issueToken([site])
  for (const type of types) expect(await changesOf(site, plain, type)).toEqual([])
})

describeWithAdmin('A malformed person', () => {
  let ask: Awaited<ReturnType<typeof openSite>>['ask']
  beforeAll(async () => {
    ask = (await openSite()).ask
  })

  it.each<[string, object]>([
    ['no role', {}],
    ['an unknown role', { role: 'director' }],
    ['a role and rights', { role: 'viewer', rights: ['files:read'] }],
    ['the role author without folders', { role: 'author' }],
    ['folders for another role', { role: 'editor', folders: ['/a'] }],
    ['a folder without a slash', { role: 'author', folders: ['a'] }],
    ['a folder with ..', { role: 'author', folders: ['/a/../b'] }],
    ['a folder whose name is too long', { role: 'author', folders: [`/${'x'.repeat(256)}`] }],
    ['a right on a path that is too long', { rights: [`files:read:${`/${'x'.repeat(89)}`.repeat(10)}/x`] }],
    ['an unknown right', { rights: ['files:own'] }],
    ['51 rights', { rights: Array.from({ length: 51 }, (_, index) => `files:read:/${index}`) }],
    ['an address without @', { role: 'viewer', email: 'ann' }],
    ['text after an address', { role: 'viewer', email: 'ann@example.com and others' }],
    ['an address with half a character', { role: 'viewer', email: 'ann@\ud800' }],
    ['a display name with a line end', { role: 'viewer', displayName: 'a\nb' }],
  ])('A new person with %s is refused with 400/101002 (A-53, A-110, E-56)', async (_, entry) => {
    expectError(await ask('POST', '', { name: newName(), ...entry }), 400, 101002)
    expect((await ask('GET')).json.users).toEqual([])
  })
})

testWithAdmin('Managers can grant only rights that they have, even in a folder (A-57, E-54)', async () => {
  const { ask, invite, site } = await openSite()
  const name = newName()
  await invite({ rights: ['files:read:/a'] }, name)
  const limited = await issueToken([site], 'access:write', 'files:write:/a')
  const refused = [
    { role: 'owner' },
    { role: 'viewer' },
    { rights: ['files:read'] },
    { rights: ['files:write:/ab'] },
    { role: 'author', folders: ['/a'] },
  ]
  for (const entry of refused) {
    const answer = await ask('POST', '', { name: newName(), ...entry }, limited)
    expectError(answer, 403, 100403)
    expectError(await ask('PUT', `/${name}`, entry, limited), 403, 100403)
  }
  expect((await ask('PUT', `/${name}`, { rights: ['files:write:/a/b', 'access:read'] }, limited)).status).toBe(200)
})

testWithAdmin('A request for another person cannot set a password (A-57, A-82)', async () => {
  const { ask, addPerson } = await openSite()
  const { name } = await addPerson({ role: 'viewer' })
  const own = { role: 'editor', password: 'another long one' }
  expect((await ask('PUT', `/${name}`, own)).status).toBe(200)
  expect((await signIn(name)).status).toBe(200)
  expect((await ask('POST', '', { name: newName(), ...own })).json.invitation).toBeDefined()
})

testWithAdmin('People who are demoted, disabled or removed lose access (A-61, A-67)', { timeout: 90_000 }, async () => {
  const { site, ask, addPerson } = await openSite()
  const forms = `/api/v1/admin/sites/${site}/webforms`
  const { name } = await addPerson({ role: 'editor' })
  const fresh = async () => (await signIn(name)).json.token
  const [first, second, third] = [await fresh(), await fresh(), await fresh()]
  const statusOf = async (token: string) => (await call(forms, { token })).status
  await ask('PUT', `/${name}`, { rights: ['history:read'] })
  expect(await statusOf(first)).toBe(403)
  await ask('PUT', `/${name}`, { role: 'editor', disabled: true })
  expect(await statusOf(second)).toBe(401)
  expectError(await signIn(name), 401, 101001)
  await ask('PUT', `/${name}`, { disabled: false })
  expect(await statusOf(third)).toBe(200)
  let waited = 0
  const afterMore = () => target.later(waited++ * 5, () => statusOf(first))
  await expect.poll(afterMore, { timeout: 80_000 }).toBe(200)
  const last = await fresh()
  await ask('DELETE', `/${name}`)
  expect(await statusOf(last)).toBe(401)
})

testWithAdmin('A user who has lost the right cannot continue an upload (A-35, A-61)', async () => {
  const { site, ask, addPerson } = await openSite()
  const { name, token } = await addPerson({ role: 'author', folders: ['/in'] })
  const folder = `/api/v2/admin/sites/${site}/storage/in`
  const headers = { ...inTus, 'Upload-Length': '10', 'Upload-Metadata': metadata({ filename: 'a.txt' }) }
  const upload = pathOf(await call(folder, { method: 'POST', token, headers }))
  expect((await append(upload, 0, 'bytes', {}, { token })).status).toBe(204)
  await ask('PUT', `/${name}`, { role: 'author', folders: ['/other'] })
  const { token: fresh } = (await signIn(name)).json
  expectError(await append(upload, 5, 'bytes', {}, { token: fresh }), 400, 104003)
  const file = await call(`${folder}/a.txt`, { token: await issueToken([site], 'files') })
  expect(file.status).toBe(404)
})

testWithAdmin('An old invitation gives nobody the later rights of a person (A-59, A-84)', async () => {
  const [here, there] = [await openSite(), await openSite()]
  const gain = [
    (name: string) => here.ask('PUT', `/${name}`, { role: 'owner' }),
    (name: string) => there.ask('POST', '', { name, role: 'owner' }),
  ]
  for (const gainRights of gain) {
    const { name } = await here.addPerson({ role: 'viewer' })
    const { invitation } = (await here.ask('PUT', `/${name}`, { invite: true })).json
    expect((await gainRights(name)).status).toBeLessThan(300)
    expectError(await accept(invitation, 'another long one'), 404, 101003)
    expect((await signIn(name)).status).toBe(200)
  }
})

testWithAdmin('Another site cannot take over a person without rights (A-51, A-59, A-60)', async () => {
  const [here, there] = [await openSite(), await openSite()]
  const { name } = await there.addPerson({ rights: [] })
  expect((await here.ask('POST', '', { name, rights: [] })).status).toBe(201)
  for (const change of [{ invite: true }, { email: 'other@example.com' }, { disabled: true }])
    expectError(await here.ask('PUT', `/${name}`, change), 403, 100403)
  expect((await here.ask('DELETE', `/${name}`)).status).toBe(200)
  expect((await there.ask('GET', `/${name}`)).json).toMatchObject({ disabled: false, email: '', invited: false })
  expect((await there.ask('PUT', `/${name}`, { invite: true })).status).toBe(200)
})

testWithAdmin('An invitation stays valid when the person gets the same role again (A-84)', async () => {
  const { ask, addPerson } = await openSite()
  const { name } = await addPerson({ role: 'author', folders: ['/a'] })
  const { invitation } = (await ask('PUT', `/${name}`, { invite: true })).json
  expect((await ask('PUT', `/${name}`, { folders: ['/a'], role: 'author' })).status).toBe(200)
  expect((await accept(invitation, 'another long one')).status).toBe(200)
})

testWithAdmin('Nobody can remove, disable or demote the last owner (A-58, E-60)', async () => {
  const { ask, addPerson } = await openSite()
  const [{ name, token }, second] = [await addPerson(), await addPerson()]
  expect((await ask('PUT', `/${second.name}`, { role: 'editor' })).status).toBe(200)
  for (const own of [undefined, token]) {
    for (const change of [{ role: 'editor' }, { rights: [] }, { disabled: true }]) {
      expectError(await ask('PUT', `/${name}`, change, own), 409, 101012)
    }
    expectError(await ask('DELETE', `/${name}`, undefined, own), 409, 101012)
  }
  await ask('PUT', `/${second.name}`, { role: 'owner' })
  expect((await ask('DELETE', `/${name}`, undefined, token)).status).toBe(200)
  expect((await call(me, { token: (await signIn(second.name)).json.token })).status).toBe(200)
})

testWithAdmin('The last owner stays while another owner is only invited (A-58)', async () => {
  const { ask, addPerson, invite } = await openSite()
  const { name } = await addPerson()
  const invitation = await invite()
  expectError(await ask('DELETE', `/${name}`), 409, 101012)
  expect((await accept(invitation)).status).toBe(200)
  expect((await ask('DELETE', `/${name}`)).status).toBe(200)
})

testWithAdmin('A new person with the name of a removed one does not revive sessions (A-60)', async () => {
  const { site, ask, manager, addPerson, invite } = await openSite()
  for (const remover of [manager, await issueToken([site], 'access:write')]) {
    const { name } = await addPerson({ role: 'viewer' })
    const { token } = (await signIn(name)).json
    expect((await ask('DELETE', `/${name}`, undefined, remover)).status).toBe(200)
    expect((await accept(await invite({ role: 'viewer' }, name), 'another long one')).status).toBe(200)
    expect((await call(me, { token })).status).toBe(401)
    expectError(await signIn(name), 401, 101001)
  }
})
