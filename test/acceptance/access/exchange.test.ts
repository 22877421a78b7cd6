import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { githubClaims, startTokenIssuer, type TokenIssuer } from '../../support/token-issuer.ts'
import { target } from '../setup/target.ts'
import { admin, createSite } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { mayReachIssuers, testWithIssuer } from '../support/issuers.ts'

const tokens = '/api/v2/admin/tokens'
const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtType = 'urn:ietf:params:oauth:token-type:jwt'

let issuer: TokenIssuer
let site: number
const id = `github-${randomUUID().slice(0, 8)}`

const addRule = (of: number, options: string) =>
  admin('rule', 'add', '--issuer', id, '--site', String(of), ...options.split(' '))

beforeAll(async () => {
  if (!mayReachIssuers) return
  issuer = await startTokenIssuer()
  site = await createSite('Exchange')
  await admin('issuer', 'add', issuer.url, '--id', id, '--audience', 'site-admin')
  const claims = '--claim repository=acme/site --claim ref=refs/heads/main'
  await addRule(site, `${claims} --right files:write:/news --ttl 10m`)
})
afterAll(async () => {
  if (!mayReachIssuers) return
  await admin('issuer', 'remove', id)
  await issuer.close()
})

type Members = Readonly<Record<string, string | undefined>>

/** Sends a form, as standard clients do. */
const exchange = async (subjectToken: string, members: Members = {}) => {
  const all = { grant_type: grantType, subject_token_type: jwtType, subject_token: subjectToken, ...members }
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return call(tokens, {
    method: 'POST',
    token: null,
    body: new URLSearchParams(given).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
}

const expectRefusal = (answer: Awaited<ReturnType<typeof call>>, error: string, code: number) => {
  expectError(answer, 400, code)
  expect(answer.json.error).toBe(error)
}

const storage = (of: number, path: string) => `/api/v2/admin/sites/${of}/storage/${path}`

testWithIssuer('A job gets a token with exactly the rights of the rule (A-97, A-99, A-100)', async () => {
  const answer = await exchange(await issuer.sign())
  expect(answer.status).toBe(200)
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.json).toEqual({
    access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: 600,
    scope: 'files:write:/news',
  })
  const token = answer.json.access_token
  const put = (path: string) => call(storage(site, path), { method: 'PUT', token, body: 'Hello' })
  expect((await put('news/index.html')).status).toBe(200)
  expect((await put('index.html')).json.code).toBe(104003)
  expect((await call(`/api/v1/admin/sites/${site}/webforms`, { token })).json.code).toBe(100403)
})

testWithIssuer('A token of a job works once, even in concurrent requests (A-97)', async () => {
  const jwt = await issuer.sign()
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(jwt)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expectRefusal(answer, 'invalid_grant', 101002)
  }
  const soonOver = githubClaims({ jti: 'one', exp: Math.floor(Date.now() / 1000) + 60 })
  expect((await exchange(await issuer.sign(soonOver))).status).toBe(200)
  expectRefusal(await exchange(await issuer.sign(soonOver)), 'invalid_grant', 101002)
})

testWithIssuer.for<[string, Members]>([
  ['has another value', { ref: 'refs/heads/other' }],
  ['has another case', { repository: 'Acme/site' }],
  ['has more letters', { repository: 'acme/site-two' }],
  ['is missing', { ref: undefined }],
])('A token with a claim that %s is refused (A-100)', async ([, claims]) => {
  expectRefusal(await exchange(await issuer.sign(githubClaims(claims))), 'invalid_grant', 101002)
})

testWithIssuer('A forged token is refused (A-91, A-97)', async () => {
  const [head = '', , signature = ''] = (await issuer.sign()).split('.')
  const claims = Buffer.from(JSON.stringify(githubClaims({ iss: issuer.url }))).toString('base64url')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  for (const jwt of [`${head}.${claims}.${signature}`, `${none}.${claims}.`, 'hello', `${head}.${head}`]) {
    expectRefusal(await exchange(jwt), 'invalid_grant', 101002)
  }
})

testWithIssuer('A token of an unknown issuer is refused (A-97)', async () => {
  const other = await startTokenIssuer()
  expectRefusal(await exchange(await other.sign()), 'invalid_grant', 101002)
  expect(other.asked).toEqual([])
  await other.close()
})

testWithIssuer.for<[string, Members, string]>([
  ['an unknown grant_type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ['another type of token', { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }, 'invalid_request'],
  ['no type of token', { subject_token_type: undefined }, 'invalid_request'],
  ['an empty token', { subject_token: '' }, 'invalid_request'],
  ['a resource that is not a site', { resource: 'https://example.com/' }, 'invalid_target'],
  ['a site that no rule names', { resource: '999999999' }, 'invalid_target'],
])('An exchange with %s is refused (A-99, E-56)', async ([, members, error]) => {
  expectRefusal(await exchange(await issuer.sign(), members), error, 101002)
})

testWithIssuer('A resource selects one of several rules; a refused token stays usable (A-98)', async () => {
  const other = await createSite('Exchange too')
  const { id: rule } = await addRule(other, '--claim repository_owner=acme --right files:read')
  const jwt = await issuer.sign()
  expectRefusal(await exchange(jwt), 'invalid_target', 101002)
  const { json } = await exchange(jwt, { resource: `${target.baseUrl}/api/v2/admin/sites/${other}` })
  expect(json).toMatchObject({ scope: 'files:read', expires_in: 900 })
  await admin('rule', 'remove', rule)
  expect((await exchange(await issuer.sign())).json).toMatchObject({ scope: 'files:write:/news' })
})

testWithIssuer('A token gets the rights of all matching rules of one site (A-98)', async () => {
  const { id: rule } = await addRule(site, '--claim repository_owner=acme --right forms:read --ttl 5m')
  const { status, json } = await exchange(await issuer.sign())
  await admin('rule', 'remove', rule)
  expect(status).toBe(200)
  expect(json).toMatchObject({ scope: 'files:write:/news forms:read', expires_in: 300 })
})

testWithIssuer('The user of a token is well-formed text, even if its sub is long (A-97)', async () => {
  const sub = 'x'.repeat(200 - `${id}:`.length - 1)
  expect((await exchange(await issuer.sign(githubClaims({ sub: `${sub}🐎` })))).status).toBe(200)
  const users = (await admin('token', 'list', '--site', String(site))).map(({ user }: { user: string }) => user)
  expect(users).toContain(`${id}:${sub}\ufffd`)
})

testWithIssuer('A number that JSON has rounded matches no rule (A-100)', async () => {
  const other = await createSite('Numbers')
  await addRule(other, '--claim account=9007199254740992 --right files:read')
  await addRule(other, '--claim account=9007199254740991 --right forms:read')
  const scopeOf = async (account: number) =>
    (await exchange(await issuer.sign({ jti: randomUUID(), sub: 'x', account }))).json.scope
  expect([await scopeOf(2 ** 53), await scopeOf(2 ** 53 - 1)]).toEqual([undefined, 'forms:read'])
})

testWithIssuer('If the issuer does not answer, the exchange answers 503 (A-91, E-16)', async () => {
  const silent = await startTokenIssuer()
  const of = `${id}-silent`
  await admin('issuer', 'add', silent.url, '--id', of, '--audience', 'site-admin')
  const jwt = await silent.sign()
  await silent.close()
  const { status, json, headers } = await exchange(jwt)
  expect({ status, code: json.code }).toEqual({ status: 503, code: 100503 })
  expect(headers['retry-after']).toBeDefined()
  await admin('issuer', 'remove', of)
})

testWithIssuer('Issuers and rules are listed, and the history records them (A-104, A-113)', async () => {
  const rules = await admin('rule', 'list', '--site', String(site))
  expect(rules).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      issuer: id,
      claims: { repository: 'acme/site', ref: 'refs/heads/main' },
      site,
      rights: ['files:write:/news'],
      ttl: 600,
    },
  ])
  const shown = { id, url: issuer.url, audience: 'site-admin', clientId: null }
  expect(await admin('issuer', 'list')).toContainEqual(shown)
  const entries: { type: string; subject: string }[] = await admin('audit', '--site', String(site))
  const types = entries.map(({ type, subject }) => `${type} ${subject}`)
  expect(types).toContain(`issuer.created issuer/${id}`)
  expect(types).toContain(`rule.created rule/${rules[0].id}`)
})
