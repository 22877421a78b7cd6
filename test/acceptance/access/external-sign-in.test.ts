import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { openBrowser } from '../../support/cookie-browser.ts'
import { type Account, type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts'
import { target } from '../setup/target.ts'
import { admin, createSite } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { mayReachIssuers, testWithIssuer } from '../support/issuers.ts'
import { newName, openSite } from '../support/people.ts'

const id = `work-${randomUUID().slice(0, 8)}`
const signInAt = `${target.baseUrl}/api/v2/admin/sign-in/${id}`
const consoleAt = `${target.baseUrl}/console`
const wrongPerson = { error: '101001' }

let provider: IdentityProvider
let site: number

beforeAll(async () => {
  if (!mayReachIssuers) return
  provider = await startIdentityProvider('site-admin', `${signInAt}/callback`)
  site = await createSite('Sign-in')
  await admin('issuer', 'add', provider.url, '--id', id, '--audience', 'programs', '--client-id', 'site-admin')
  await admin('rule', 'add', '--issuer', id, '--claim', 'groups=web', '--site', String(site), '--role', 'editor')
})
beforeEach(() => provider?.signInAs(member()))
afterAll(async () => {
  if (!mayReachIssuers) return
  await admin('issuer', 'remove', id)
  await provider.close()
})

/** A person with the claim that the rule requires. */
const member = (details: Partial<Account> = {}): Account => {
  const sub = randomUUID()
  return { sub, email: `${sub}@example.com`, email_verified: true, name: 'Eve', groups: ['web'], ...details }
}

const newVerifier = () => randomBytes(32).toString('base64url')
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** The values that the console gets after `#`. */
const outcomeIn = (url: URL): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(url.hash.slice(1)))

const signIn = async (verifier = newVerifier(), browser = openBrowser()) => {
  const url = await browser.follow(`${signInAt}?challenge=${challengeOf(verifier)}`, consoleAt)
  return { outcome: outcomeIn(url), code: outcomeIn(url)['code'], url }
}

const redeem = (code: string | undefined, verifier: string, more: object = {}) =>
  call('/api/v2/admin/tokens', { method: 'POST', token: null, body: { code, verifier, ...more } })

testWithIssuer('The service lists the issuers for people (A-92)', async () => {
  const programs = `programs-${randomUUID().slice(0, 8)}`
  await admin('issuer', 'add', `https://${programs}.example`, '--id', programs, '--audience', 'site-admin')
  const { json } = await call('/api/v2/admin/sign-in', { token: null })
  expect(json.items).toContainEqual({ id })
  expect(json.items).not.toContainEqual({ id: programs })
  await admin('issuer', 'remove', programs)
})

testWithIssuer('A rule adds a person, who signs in with a code (A-92, A-95, A-96)', async () => {
  const account = member()
  provider.signInAs(account)
  const verifier = newVerifier()
  const { code, url } = await signIn(verifier)
  expect(url.origin + url.pathname + url.search).toBe(consoleAt)
  const { status, json, headers } = await redeem(code, verifier)
  expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-store' })
  const forms = await call(`/api/v1/admin/sites/${site}/webforms`, { token: json.token })
  expect(forms.status).toBe(200)
  const { json: sites } = await call('/api/v1/admin/sites', { token: json.token })
  expect(sites.items.map((each: { id: number }) => each.id)).toEqual([site])
  const entries: { type: string; subject: string }[] = await admin('audit', '--site', String(site))
  expect(entries).toContainEqual(expect.objectContaining({ type: 'user.created', subject: `user/${account.email}` }))
})

testWithIssuer('An account with a new e-mail address still signs in the same person (A-94)', async () => {
  const account = member()
  provider.signInAs(account)
  await signIn()
  provider.signInAs({ ...account, email: 'other@example.com', groups: [] })
  expect((await signIn()).code).toBeDefined()
})

testWithIssuer('A code of a sign-in works once, only for the console that began it (A-96)', async () => {
  const verifier = newVerifier()
  const { code } = await signIn(verifier)
  expectError(await redeem(code, newVerifier()), 401, 101001)
  expectError(await redeem(code, verifier), 401, 101001)
  const second = await signIn(verifier)
  expect((await redeem(second.code, verifier, { tokenExpiryPeriod: 'short' })).status).toBe(200)
  expectError(await redeem(second.code, verifier), 401, 101001)
  expectError(await redeem('f'.repeat(64), verifier), 401, 101001)
  expectError(await redeem('', verifier), 400, 101002)
})

testWithIssuer('A sign-in of a person without a rule or an invitation gets no code (A-94, A-95)', async () => {
  provider.signInAs(member({ groups: ['press'] }))
  expect((await signIn()).outcome).toMatchObject(wrongPerson)
})

testWithIssuer('A new invitation does not admit an address that was set before (A-94)', async () => {
  const { ask, addPerson } = await openSite()
  const manager = await addPerson({ rights: ['access:write', 'files:read'] }, newName('manager'))
  const { name } = await addPerson({ rights: ['files:read'] }, newName('bob'))
  const email = `${randomUUID()}@example.com`
  provider.signInAs(member({ email, groups: [] }))
  expect((await ask('PUT', `/${name}`, { email }, manager.token)).status).toBe(200)
  for (const change of [{ role: 'owner' }, { invite: true }])
    expect((await ask('PUT', `/${name}`, change)).status).toBe(200)
  expect((await signIn()).outcome).toMatchObject(wrongPerson)
  expect((await ask('PUT', `/${name}`, { email })).status).toBe(200)
  expect((await signIn()).code).toBeDefined()
})

testWithIssuer('An unverified e-mail address does not become the name of a person (A-95)', async () => {
  provider.signInAs(member({ email: 'admin@example.com', email_verified: false }))
  await signIn()
  provider.signInAs(member({ email: 'admin@example.com', email_verified: 'true' }))
  await signIn()
  const entries: { type: string; subject: string }[] = await admin('audit', '--site', String(site))
  expect(entries.map(({ subject }) => subject)).not.toContain('user/admin@example.com')
})

const begin = async (browser = openBrowser()) => {
  const response = await browser.get(`${signInAt}?challenge=${challengeOf(newVerifier())}`)
  return { browser, location: response.headers.get('location') ?? '', response }
}

testWithIssuer('The browser is sent to the issuer, with PKCE, state and nonce (A-92)', async () => {
  const { location, response } = await begin()
  const { origin, searchParams } = new URL(location)
  expect({ status: response.status, origin }).toEqual({ status: 303, origin: provider.url })
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: 'site-admin',
    response_type: 'code',
    redirect_uri: `${signInAt}/callback`,
    code_challenge_method: 'S256',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(response.headers.get('set-cookie')).toMatch(
    /; HttpOnly; SameSite=Lax; Path=\/\S*\/sign-in\/[\w-]+; Max-Age=600/,
  )
})

testWithIssuer.for([
  '',
  'challenge=short',
  `challenge=${'a'.repeat(44)}`,
  `challenge=${'a'.repeat(42)}%0a`,
  'redirect_uri=https://evil.example/&next=https://evil.example/',
])('A sign-in that begins with "%s" is refused (A-92, E-56)', async (query) => {
  const answer = await call(`/api/v2/admin/sign-in/${id}?${query}`, { token: null })
  expectError(answer, 400, 101002)
  expect(answer.headers['location']).toBeUndefined()
})

testWithIssuer.for(['nobody', 'github%2f..', '%2e%2e'])('Unknown issuers answer 404 (A-92, E-7): %s', async (other) => {
  for (const path of ['', '/callback']) {
    const answer = await call(`/api/v2/admin/sign-in/${other}${path}?challenge=${'a'.repeat(43)}`, { token: null })
    expect([404, 400]).toContain(answer.status)
    expect(answer.headers['location']).toBeUndefined()
  }
})

testWithIssuer('Addresses in the query do not change the redirects of a sign-in (A-92, A-96)', async () => {
  const evil = 'https://evil.example/'
  const all = ['redirect_uri', 'return_to', 'next', 'iss', 'state', 'nonce'].map((name) => `&${name}=${evil}`).join('')
  const browser = openBrowser()
  const url = await browser.follow(`${signInAt}?challenge=${challengeOf(newVerifier())}${all}`, consoleAt)
  expect(url.href).not.toContain('evil')
})

testWithIssuer('A sign-in that another browser began ends without a code (A-92)', async () => {
  const { browser, location } = await begin()
  const callback = await browser.follow(location, `${signInAt}/callback`)
  const { browser: other } = await begin()
  for (const visitor of [openBrowser(), other]) {
    expect(outcomeIn(await visitor.follow(callback.href, consoleAt))).toMatchObject(wrongPerson)
  }
})

testWithIssuer('The callback of a sign-in works once (A-92)', async () => {
  const browser = openBrowser()
  // The browser sends this cookie of another program on the host first.
  browser.cookies.set('another', { value: 'x', path: '/' })
  const { location } = await begin(browser)
  const callback = await browser.follow(location, `${signInAt}/callback`)
  const cookies = new Map(browser.cookies)
  expect(outcomeIn(await browser.follow(callback.href, consoleAt))).toHaveProperty('code')
  expect(browser.cookies.has('sign-in')).toBe(false)
  for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
  expect(outcomeIn(await browser.follow(callback.href, consoleAt))).toMatchObject(wrongPerson)
})

testWithIssuer.for<[string, (callback: URL) => void]>([
  ['another state', ({ searchParams }) => searchParams.set('state', 'x'.repeat(43))],
  ['no state', ({ searchParams }) => searchParams.delete('state')],
  ['two states', ({ searchParams }) => searchParams.append('state', 'x')],
  ['another code', ({ searchParams }) => searchParams.set('code', 'x')],
  ['another issuer', ({ searchParams }) => searchParams.set('iss', 'https://evil.example')],
  ['an error', ({ searchParams }) => searchParams.set('error', 'access_denied')],
])('A sign-in that ends with %s gets no code (A-92)', async ([, change]) => {
  const { browser, location } = await begin()
  const callback = await browser.follow(location, `${signInAt}/callback`)
  change(callback)
  expect(outcomeIn(await browser.follow(callback.href, consoleAt))).toMatchObject(wrongPerson)
})

testWithIssuer.for([
  ['of one letter', 'sign-in=x'],
  ['without a challenge', 'sign-in=state.nonce.verifier.'],
  ['of 5,000 letters', `sign-in=${'a'.repeat(5000)}`],
] as const)('A forged cookie %s gets no code (A-92)', async ([, cookie]) => {
  const response = await fetch(`${signInAt}/callback?code=x&state=x`, { redirect: 'manual', headers: { cookie } })
  expect(outcomeIn(new URL(response.headers.get('location') ?? ''))).toMatchObject(wrongPerson)
})
