import { describe, expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

const forms = (siteId: number | string) => `/api/v1/admin/sites/${siteId}/webforms`

describe('tokens', () => {
  test('are taken bare, and behind Bearer', async () => {
    const { token } = target
    expect((await call(`${site}/webforms`, { token })).status).toBe(200)
    expect((await call(`${site}/webforms`, { token: `Bearer ${token}` })).status).toBe(200)
    expect((await call(`${site}/webforms`, { token: `bearer  ${token}` })).status).toBe(200)
  })

  test.each<[string, string | null]>([
    ['missing', null],
    ['empty', ' '],
    ['unknown', 'f'.repeat(64)],
    ['of another shape', 'hello'],
    ['10,000 characters long', 'a'.repeat(10_000)],
    ['basic', 'Basic dXNlcjpwYXNz'],
  ])('that are %s are 401 / 101000', async (_, token) => {
    const answer = await call(`${site}/webforms`, { token })
    expectError(answer, 401, 101000)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  test('in the query are not looked at outside storage', async () => {
    const { token } = target
    expectError(await call(`${site}/webforms?access_token=${token}`, { token: null }), 401, 101000)
  })

  testWithAdmin('that are revoked are 401 / 101000', async () => {
    const token = await issueToken([await ownSiteId()])
    await admin('token', 'revoke', token)
    expectError(await call(`${site}/webforms`, { token }), 401, 101000)
  })
})

describe('sites', () => {
  testWithAdmin('current is the one site of the token', async () => {
    const id = await createSite('Another')
    const token = await issueToken([id])
    const { json } = await call(`${site}/webforms`, { token })
    expect(json.links[0].uri).toContain(forms(id))
  })

  testWithAdmin('current is 400 / 100002 when the token covers several, each of which has its number', async () => {
    const id = await createSite('Another')
    const token = await issueToken([await ownSiteId(), id])
    expectError(await call(forms('current'), { token }), 400, 100002)
    expect((await call(forms(id), { token })).status).toBe(200)
    expect((await call(forms(await ownSiteId()), { token })).status).toBe(200)
  })

  testWithAdmin('another site and one that does not exist get the same answer', async () => {
    const id = await createSite('Foreign')
    const foreign = await call(forms(id))
    const missing = await call(forms(99999999))
    expectError(foreign, 400, 100002)
    expectError(missing, 400, 100002)
    expect(foreign.json.message).toBe(missing.json.message)
  })

  test.each(['abc', '0', '-1', '1.5', 'Current', '%63urrents', '99999999999999999999'])(
    '%s is no site: 400 / 100002',
    async (id) => {
      expectError(await call(forms(id)), 400, 100002)
    },
  )

  testWithAdmin('web forms need no rendering engine', async () => {
    const id = await createSite('Old', '--no-rendering-engine')
    const token = await issueToken([id])
    expect((await call(forms(id), { token })).status).toBe(200)
  })
})
