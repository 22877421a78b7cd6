import { expect } from 'vitest'
import { testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { me, newName, openSite, password, signIn, tokens } from '../support/people.ts'

const v1 = '/api/v1/admin/tokens'
const xml = { 'Content-Type': 'application/xml', Accept: 'application/xml' }
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  call(path, { method: 'POST', token: null, body, headers })

testWithAdmin('A sign-in with the right name and password returns a token (A-63, A-64, A-65)', async () => {
  const { site, addPerson } = await openSite()
  const { name } = await addPerson()
  for (const path of [tokens, v1]) {
    const answer = await post(path, { username: name.toUpperCase(), password })
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, ['token']])
    expect(answer.json.token).toMatch(/^[0-9a-f]{64}$/)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect((await call(`/api/v1/admin/sites/${site}/webforms`, { token: answer.json.token })).status).toBe(200)
  }
})

testWithAdmin('A sign-in may be a form, and in v1 also XML with any root (A-64, A-65)', async () => {
  const { addPerson } = await openSite()
  const { name } = await addPerson()
  const text = new URLSearchParams({ username: name, password, tokenExpiryPeriod: 'short' }).toString()
  for (const path of [tokens, v1]) expect((await post(path, text, form)).status).toBe(200)
  const members = `<username>${name}</username><password>${password}</password>`
  const namespace = 'xmlns="http://ns.adobe.com/bc/api/v1"'
  for (const document of [`<credentials>${members}</credentials>`, `<x ${namespace}>${members}</x>`]) {
    const answer = await post(v1, document, xml)
    expect(answer.headers['content-type']).toBe('application/xml; charset=utf-8')
    expect(answer.text).toMatch(/<authToken [^>]*><token>[0-9a-f]{64}<\/token><\/authToken>/)
    expect((await post(tokens, document, { 'Content-Type': 'application/xml' })).status).toBe(415)
  }
})

testWithAdmin('A password may have 256 emoji, in any form of Unicode (A-54, A-64)', async () => {
  // Only names of three letters or more are forbidden in a password.
  const { addPerson, ask } = await openSite(undefined, 'Ed')
  const { name, token } = await addPerson()
  await (await openSite(undefined, '🐎🐎')).ask('POST', '', { name, role: 'viewer' })
  const passwords = ['fed feeds of red', '🐎'.repeat(256), 'α\u0313\u0300\u0345'.repeat(256), 'cafe\u0301 au lait noir']
  let oldPassword = password
  for (const next of passwords) {
    const change = { password: next, oldPassword }
    expect((await call(me, { method: 'PUT', token, body: change })).status).toBe(200)
    oldPassword = next
    expect((await signIn(name, next.normalize('NFC'))).status).toBe(200)
  }
  const document = `<a><username>${name}</username><password>${oldPassword.normalize('NFD')}</password></a>`
  expect((await post(v1, document, xml)).status).toBe(200)
  expect((await ask('GET', `/${name}`)).json.lastSignIn).toMatch(/^\d{4}-\d\d-\d\d$/)
})

testWithAdmin('The token of a sign-in lasts 2 weeks, or 4 hours (A-14, A-64)', async () => {
  const { addPerson } = await openSite()
  const { name } = await addPerson()
  for (const [period, seconds] of [
    ['short', 4 * 3600],
    ['long', 14 * 24 * 3600],
    [undefined, 14 * 24 * 3600],
  ] as const) {
    const { json } = await signIn(name, password, { tokenExpiryPeriod: period })
    const { expires } = (await call(me, { token: json.token })).json
    expect(Math.abs(Date.parse(expires) - Date.now() - seconds * 1000)).toBeLessThan(120_000)
  }
})

testWithAdmin.each<[string, unknown]>([
  ['an empty object', {}],
  ['an empty name', { username: '', password }],
  ['an empty password', { username: 'ann', password: '' }],
  ['a name that is not a text', { username: ['ann'], password }],
  ['an unknown period', { username: 'ann', password, tokenExpiryPeriod: 'forever' }],
  ['a list', []],
  ['a form of 101 names', `username=ann&password=a${'&a=b'.repeat(99)}`],
  ['broken JSON', '{'],
  ['a password without quotes', `{"username":"ann","password":${password}}`],
])('A sign-in with %s is refused with 400/101002 (A-66, E-56)', async (_, body) => {
  const answer = await post(tokens, body, { 'Content-Type': 'application/json' })
  expectError(answer, 400, 101002)
  expect(answer.json.message).not.toContain(password.slice(0, 5))
})

testWithAdmin('A refusal hides whether the name or password was wrong (A-52, A-66, E-55)', async () => {
  const { addPerson, invite, ask } = await openSite()
  const { name } = await addPerson(undefined, newName('kate'))
  const disabled = await addPerson({ role: 'viewer' })
  await ask('PUT', `/${disabled.name}`, { disabled: true })
  const waiting = newName()
  await invite({ role: 'viewer' }, waiting)
  const attempts = [
    [name, 'wrong horse battery'],
    [name, `${password} `],
    [name, 'x'.repeat(60_000)],
    [newName(), password],
    ['x'.repeat(3_000), password],
    [name.replace('a', '\u0430'), password],
    [name.replace('k', '\u212a'), password],
    [waiting, password],
    [disabled.name, password],
  ] as const
  const answers = await Promise.all(attempts.map(([username, own]) => signIn(username, own)))
  for (const answer of answers) expectError(answer, 401, 101001)
  expect(new Set(answers.map(({ json }) => json.message)).size).toBe(1)
})

testWithAdmin.each(['a known', 'an unknown'])(
  'After 5 failures of %s name, sign-ins wait (A-66, A-76, A-78, E-14)',
  async (kind) => {
    const { addPerson } = await openSite()
    const name = kind === 'a known' ? (await addPerson()).name : newName()
    for (let attempt = 0; attempt < 5; attempt++) expectError(await signIn(name, 'wrong horse battery'), 401, 101001)
    const answer = await signIn(name)
    expectError(answer, 429, 100429)
    expect(answer.headers['retry-after']).toBe('1')
  },
)

testWithAdmin('100 attempts at once are limited like consecutive ones (A-76, A-78)', { timeout: 120_000 }, async () => {
  const name = newName()
  const answers = await Promise.all(Array.from({ length: 100 }, () => signIn(name)))
  const statuses = answers.map(({ status }) => status)
  // A busy machine needs some seconds for the 100 attempts. Each wait that ends meanwhile admits one more attempt.
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(12)
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
})

testWithAdmin('A successful sign-in adds no failure, and clears no earlier failures (A-76)', async () => {
  const { addPerson } = await openSite()
  const { name } = await addPerson()
  for (let attempt = 0; attempt < 4; attempt++) await signIn(name, 'wrong horse battery')
  for (let attempt = 0; attempt < 3; attempt++) expect((await signIn(name)).status).toBe(200)
  expect((await signIn(name, 'wrong horse battery')).status).toBe(401)
  expect((await signIn(name)).status).toBe(429)
})
