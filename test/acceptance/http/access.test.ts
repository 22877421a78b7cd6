import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

const forms = (siteId: number | string) => `/api/v1/admin/sites/${siteId}/webforms`

test('A token is accepted with and without Bearer (A-7)', async () => {
  const { token } = target
  expect((await call(`${site}/webforms`, { token })).status).toBe(200)
  expect((await call(`${site}/webforms`, { token: `Bearer ${token}` })).status).toBe(200)
  expect((await call(`${site}/webforms`, { token: `bearer  ${token}` })).status).toBe(200)
})

test.each<[string, string | null]>([
  ['missing', null],
  ['empty', ' '],
  ['unknown', 'f'.repeat(64)],
  ['in another format', 'hello'],
  ['10,000 characters long', 'a'.repeat(10_000)],
  ['sent as Basic', 'Basic dXNlcjpwYXNz'],
])('A request with a token that is %s answers 401/101000 (A-10, E-18)', async (_, token) => {
  const answer = await call(`${site}/webforms`, { token })
  expectError(answer, 401, 101000)
  expect(answer.headers['www-authenticate']).toBe('Bearer')
})

test('Outside storage, a token in the query is ignored (A-8)', async () => {
  const { token } = target
  for (const path of [`${site}/webforms`, '/webresources/api/v3/sites/current/news']) {
    expectError(await call(`${path}?access_token=${token}`, { token: null }), 401, 101000)
  }
})

testWithAdmin('A request with a revoked token answers 401/101000 (A-10)', async () => {
  const token = await issueToken([await ownSiteId()])
  await admin('token', 'revoke', token)
  expectError(await call(`${site}/webforms`, { token }), 401, 101000)
})

testWithAdmin('The word current in a path means the only site of the token (A-3, A-15)', async () => {
  const id = await createSite('Another')
  const token = await issueToken([id])
  const { json } = await call(`${site}/webforms`, { token })
  expect(json.links[0].uri).toContain(forms(id))
})

testWithAdmin('A path with current answers 100002 if a token has two sites (A-11, A-16, E-6)', async () => {
  const id = await createSite('Another')
  const token = await issueToken([await ownSiteId(), id])
  expectError(await call(forms('current'), { token }), 400, 100002)
  expect((await call(forms(id), { token })).status).toBe(200)
  expect((await call(forms(await ownSiteId()), { token })).status).toBe(200)
})

testWithAdmin('A missing site and a site of other people get the same answer (A-17, E-6)', async () => {
  const id = await createSite('Foreign')
  const foreign = await call(forms(id))
  const missing = await call(forms(99999999))
  expectError(foreign, 400, 100002)
  expectError(missing, 400, 100002)
  expect(foreign.json.message).toBe(missing.json.message)
})

const malformedIds = ['abc', '0', '-1', '1.5', 'Current', '%63urrents', '99999999999999999999']
test.each(malformedIds)('A path with %s in place of a site answers 400/100002 (A-17)', async (id) => {
  expectError(await call(forms(id)), 400, 100002)
})

testWithAdmin('Web forms need neither a permission nor the rendering engine (A-19)', async () => {
  const id = await createSite('Old', '--no-rendering-engine')
  const token = await issueToken([id])
  expect((await call(forms(id), { token })).status).toBe(200)
})
