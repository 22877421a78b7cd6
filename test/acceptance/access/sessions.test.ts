import { expect } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { accept, me, newName, openSite, password, signIn, tokens } from '../support/people.ts'

const forms = (site: number | string) => `/api/v1/admin/sites/${site}/webforms`
const siteTokens = (site: number | string) => `/api/v2/admin/sites/${site}/tokens`

const statusOf = async (path: string, token: string) => (await call(path, { token })).status

testWithAdmin('GET …/me shows the person, the sites with rights and the kind of token (A-72)', async () => {
  const { site, addPerson } = await openSite()
  const { name, token } = await addPerson({ role: 'author', folders: ['/news'], displayName: 'Ann', email: 'a@b.c' })
  const { json } = await call(me, { token })
  expect(json).toMatchObject({ name, displayName: 'Ann', email: 'a@b.c', kind: 'session', hasPassword: true })
  expect(json.sites).toEqual([
    { id: site, role: 'author', folders: ['/news'], rights: ['files:write:/news', 'history:read'] },
  ])
  const other = (await call(me)).json
  expect(other).toMatchObject({ kind: 'token', displayName: null, hasPassword: false })
})

testWithAdmin('A token for one site works only there, and ends with the session (A-68)', async () => {
  const [first, second] = [await openSite(), await openSite()]
  const { name, token: one } = await first.addPerson()
  expect((await second.ask('POST', '', { name, role: 'viewer' })).status).toBe(201)
  expect(await statusOf(forms(second.site), one)).toBe(400)
  const { token } = (await signIn(name)).json
  const { expires } = (await call(me, { token })).json
  const own = (await call(siteTokens(second.site), { method: 'POST', token })).json.token
  const view = (await call(me, { token: own })).json
  expect([view.expires, view.sites.map(({ id }: { id: number }) => id)]).toEqual([expires, [second.site]])
  expect(await statusOf(forms('current'), own)).toBe(200)
  expect(await statusOf(forms(first.site), own)).toBe(400)
  expectError(await call(siteTokens('current'), { method: 'POST', token }), 400, 100002)
  const unused = (await call(siteTokens('current'), { method: 'POST', token: own })).json.token
  expect((await call(tokens, { method: 'DELETE', token })).status).toBe(200)
  // No request has used this token yet, so no cache has it.
  expect(await statusOf(me, unused)).toBe(401)
})

testWithAdmin('A request for a token of another site answers 401/101001, not 301 (A-69, E-55)', async () => {
  const { addPerson } = await openSite()
  const { token } = await addPerson()
  const distant = (await admin('site', 'create', '--name', 'Distant', '--data-centre', 'eu')).id
  for (const site of [await createSite('Other'), distant, 999999, 'abc', '1e3']) {
    expectError(await call(siteTokens(site), { method: 'POST', token }), 401, 101001)
  }
  expectError(await call(siteTokens('current'), { method: 'POST', token: target.token }), 401, 101001)
})

testWithAdmin('DELETE revokes the token of its request, whatever its kind (A-70)', { timeout: 120_000 }, async () => {
  const { site, addPerson, manager } = await openSite()
  const { name } = await addPerson()
  const other = (await signIn(name)).json.token
  // Each token keeps working until the cache forgets it, so the cases wait together.
  const ends = [tokens, '/api/v1/admin/tokens', siteTokens(site)].map(async (path) => {
    const one = (await signIn(name)).json.token
    const answer = await call(path, { method: 'DELETE', token: one })
    expect([answer.status, answer.text]).toEqual([200, ''])
    await expect.poll(() => statusOf(me, one), { timeout: 40_000 }).toBe(401)
  })
  await Promise.all(ends)
  expect(await statusOf(me, other)).toBe(200)
  const issued = await issueToken([site], 'history:read')
  expect((await call(tokens, { method: 'DELETE', token: issued })).status).toBe(200)
  const { items } = (await call(`/api/v2/admin/sites/${site}/changes?type=token.removed`, { token: manager })).json
  expect(items).toHaveLength(1)
})

testWithAdmin('Signing out everywhere ends all sessions, and a new sign-in works (A-71)', async () => {
  const { addPerson } = await openSite()
  const { name, token } = await addPerson()
  const fresh = (await signIn(name)).json.token
  expect((await call(`${tokens}?all`, { method: 'DELETE', token: fresh })).status).toBe(200)
  expect(await statusOf(me, (await signIn(name)).json.token)).toBe(200)
  // No request used this token before the sessions ended, so no cache has it.
  expect(await statusOf(me, token)).toBe(401)
  expectError(await call(`${tokens}?all`, { method: 'DELETE', token: target.token }), 401, 101001)
})

testWithAdmin('A new password needs the old one, and ends other sessions, but no keys (A-73)', async () => {
  const { site, addPerson } = await openSite()
  const { name, token } = await addPerson()
  const other = (await signIn(name)).json.token
  const change = (body: object) => call(me, { method: 'PUT', token, body })
  expectError(await change({ password: 'another long one', oldPassword: 'wrong horse battery' }), 401, 101001)
  expectError(await change({ password: 'short', oldPassword: password }), 400, 101013)
  expectError(await change({ password: 'another long one' }), 400, 101002)
  expect(await statusOf(me, token)).toBe(200)
  const create = (path: string, body: object) => call(path, { method: 'POST', token, body })
  const ofSite = (await create(siteTokens(site), {})).json.token
  const { key } = (await create(`/api/v2/admin/sites/${site}/keys`, { name: 'Robot', rights: ['files:read'] })).json
  expect((await change({ password: 'another long one', oldPassword: password })).status).toBe(200)
  for (const ended of [other, ofSite]) expect(await statusOf(me, ended)).toBe(401)
  for (const kept of [key, token]) expect(await statusOf(me, kept)).toBe(200)
  expectError(await signIn(name), 401, 101001)
  expect((await signIn(name, 'another long one')).status).toBe(200)
})

testWithAdmin('A new password keeps the session of a token for one site (A-68, A-73)', async () => {
  const { site, addPerson } = await openSite()
  const { token } = await addPerson()
  const ofSite = (await call(siteTokens(site), { method: 'POST', token })).json.token
  const body = { password: 'another long one', oldPassword: password }
  expect((await call(me, { method: 'PUT', token: ofSite, body })).status).toBe(200)
  expect([await statusOf(me, token), await statusOf(me, ofSite)]).toEqual([200, 401])
})

testWithAdmin('A sign-in always makes a new token, whatever token the caller sends (A-65)', async () => {
  const { addPerson } = await openSite()
  const { name } = await addPerson()
  const planted = 'e'.repeat(64)
  const answer = await call(`${tokens}?access_token=${planted}&token=${planted}`, {
    method: 'POST',
    token: planted,
    body: { username: name, password, token: planted },
  })
  expect([answer.status, answer.json.token === planted]).toEqual([200, false])
  expect(await statusOf(me, planted)).toBe(401)
})

testWithAdmin('An invitation works once within 7 days, and signs in (A-82, A-83, E-57)', async () => {
  const { site, ask } = await openSite()
  const name = newName('a+b@c')
  const { status, json } = await ask('POST', '', { name, role: 'viewer' })
  expect([status, json.name]).toEqual([201, name])
  expect(json.invitation).toContain(`${target.baseUrl}/console#invitation=${encodeURIComponent(name)}`)
  expect(Math.abs(Date.parse(json.expires) - Date.now() - 7 * 24 * 3_600_000)).toBeLessThan(120_000)
  expect((await ask('GET', `/${encodeURIComponent(name)}`)).json.invited).toBe(true)
  const accepted = await Promise.all([accept(json.invitation), accept(json.invitation)])
  expect(accepted.map((answer) => answer.status).toSorted()).toEqual([200, 404])
  const token = accepted.find((answer) => answer.status === 200)?.json.token
  expect(await statusOf(forms(site), token)).toBe(200)
  expectError(await accept(json.invitation), 404, 101003)
  expectError(await accept(`x#invitation=${name}.${'0'.repeat(64)}`), 404, 101003)
  expectError(await accept('x#invitation=nonsense'), 404, 101003)
})

testWithAdmin('A person who accepts an invitation has signed in (A-53, A-83)', async () => {
  const { ask, addPerson } = await openSite()
  const { name } = await addPerson({ role: 'viewer' })
  expect((await ask('GET', `/${name}`)).json.lastSignIn).toMatch(/^\d{4}-\d\d-\d\d$/)
})

testWithAdmin('After a weak password is refused, the invitation stays valid (A-54, E-61)', async () => {
  const { invite } = await openSite(undefined, 'Cafe\u0301 No\u00ebl')
  const name = newName()
  const invitation = await invite({ role: 'viewer' }, name)
  // The shortest name that a password must not contain has three letters.
  await (await openSite(undefined, 'Zo\u00eb')).ask('POST', '', { name, role: 'viewer' })
  const named = ['my friend zo\u00eb', `1${name.toUpperCase()}1`, 'my CAF\u00c9 noe\u0308l 1']
  for (const weak of ['x'.repeat(11), '🐎'.repeat(257), ...named]) {
    expectError(await accept(invitation, weak), 400, 101013)
  }
  expect((await accept(invitation, '🐎'.repeat(12))).status).toBe(200)
})

testWithAdmin('A disabled person gets an invitation only when enabled (A-84)', async () => {
  const { ask, invite } = await openSite()
  const name = newName()
  await invite({ role: 'viewer' }, name)
  const change = (body: object) => ask('PUT', `/${name}`, body)
  expect((await change({ disabled: true })).status).toBe(200)
  expectError(await change({ invite: true }), 400, 101002)
  const { status, json } = await change({ disabled: false, invite: true })
  expect([status, (await accept(json.invitation)).status]).toEqual([200, 200])
})

testWithAdmin('A new invitation resets the password, and ends older sessions (A-83, A-84)', async () => {
  const { ask, addPerson } = await openSite()
  const { name } = await addPerson()
  const { token } = (await signIn(name)).json
  const again = await ask('PUT', `/${name}`, { invite: true })
  const second = await ask('PUT', `/${name}`, { invite: true })
  expectError(await accept(again.json.invitation), 404, 101003)
  expect((await signIn(name)).status).toBe(200)
  expect((await accept(second.json.invitation, 'another long one')).status).toBe(200)
  expect(await statusOf(me, token)).toBe(401)
  expectError(await signIn(name), 401, 101001)
})
