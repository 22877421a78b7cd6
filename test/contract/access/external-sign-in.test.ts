import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { generateKeyPair } from 'jose'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { addIssuer, addRule } from '../../../lib/access/issuers/issuers.ts'
import { endSessions } from '../../../lib/access/sign-in.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Handler, RequestRecord, SignInRecord } from '../../../lib/http/request.ts'
import { answerTo, requestOf, send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { entry, oneMachine } from '../../support/hands.ts'
import { messages } from '../../support/messages.ts'
import { startTokenIssuer } from '../../support/token-issuer.ts'

/** A provider whose answers a test chooses. */
const issuer = await startTokenIssuer()
let handler: Handler
const records: RequestRecord[] = []
const signIns: SignInRecord[] = []
let now = Date.now()
const clock = { wall: () => now, monotonic: () => performance.now() }
const secret = 'secret/of the:tests'
const site = 1001 as SiteId
const baseUrl = 'https://admin.example.com'
const verifier = 'v'.repeat(43)
const challenge = createHash('sha256').update(verifier).digest('base64url')

const configuration = '/.well-known/openid-configuration'
const json =
  (value: unknown, status = 200): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
  }
const redirect: RequestListener = (_, response) =>
  void response.writeHead(302, { Location: 'http://169.254.169.254/' }).end()

const describeItself = (more: object = {}) =>
  issuer.answers.set(
    configuration,
    json({
      issuer: issuer.url,
      jwks_uri: `${issuer.url}/keys`,
      authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`,
      userinfo_endpoint: `${issuer.url}/person`,
      ...more,
    }),
  )

const hand = await oneMachine.open(clock)
const { sites, issuers } = hand.stores
await sites.putDataCentre({ id: 'us', url: baseUrl, isDefault: true })
await sites.createSite({ id: site, name: 'Shop', dataCentre: 'us', renderingEngine: true }, entry)
const trusted = { id: 'work', url: issuer.url, audience: 'programs', clientId: 'site-admin' }
const rule = { issuer: 'work', claims: { groups: 'web' }, site }
const rules = [
  { id: '1', ...rule, grants: { role: 'editor' } },
  { id: '2', ...rule, grants: { rights: ['files:read'], ttl: 900 } },
] as const
await issuers.changeTrust((trust) => rules.reduce(addRule, addIssuer(trust, trusted)), [])

beforeEach(() => {
  now = Date.now()
  records.length = 0
  signIns.length = 0
  issuer.answers.clear()
  describeItself()
  const telemetry = {
    request: (record: RequestRecord) => void records.push(record),
    signIn: (record: SignInRecord) => void signIns.push(record),
  }
  const findClientSecret = async (id: string) => (id === 'work' ? secret : undefined)
  handler = openHandler.access({ dataCentre: 'us' }, hand.stores, { telemetry, clock, findClientSecret })
})
afterAll(async () => {
  await hand.close()
  await issuer.close()
})

const work = '/api/v2/admin/sign-in/work'

const begin = async () => {
  const { status, headers } = await send(handler, 'GET', work, { query: { challenge } })
  const sent = new URL(headers['location'] ?? '').searchParams
  return { status, sent, cookie: headers['set-cookie']?.split(';')[0] ?? '', header: headers['set-cookie'] }
}

type Begun = Awaited<ReturnType<typeof begin>>

const finish = async ({ sent, cookie }: Begun, address?: string) => {
  const query = { code: 'code-of-the-issuer', state: sent.get('state') ?? '' }
  const request = requestOf('GET', `${work}/callback`, { query, headers: { cookie } })
  const { status, headers } = await answerTo(handler, { ...request, ...(address !== undefined && { address }) })
  const { origin, pathname, hash } = new URL(String(headers['Location']))
  return { status, place: origin + pathname, outcome: Object.fromEntries(new URLSearchParams(hash.slice(1))) }
}

interface ProviderAnswer {
  readonly claims?: object
  readonly signing?: object
  readonly person?: object
}

/** The provider exchanges the code for a token with these claims. Returns the requests that the provider gets. */
const answerWith = (begun: Begun, { claims = {}, signing = {}, person = {} }: ProviderAnswer = {}) => {
  const asked: { authorization: string | undefined; body: URLSearchParams }[] = []
  issuer.answers.set('/token', async (request: IncomingMessage, response) => {
    asked.push({ authorization: request.headers.authorization, body: new URLSearchParams(await text(request)) })
    const nonce = begun.sent.get('nonce') ?? ''
    const id_token = await issuer.sign({ sub: 'eve', aud: 'site-admin', nonce, groups: ['web'], ...claims }, signing)
    json({ access_token: 'access', token_type: 'Bearer', id_token })(request, response)
  })
  issuer.answers.set('/person', json({ sub: 'eve', name: 'Eve', ...person }))
  return asked
}

const wrongPerson = { error: '101001', request: 'test' }
const unavailable = { error: '100503', request: 'test' }

test('The issuer gets secret and verifier, and the console gets a code (A-92, A-93)', async () => {
  const begun = await begin()
  const asked = answerWith(begun)
  const { status, place, outcome } = await finish(begun)
  expect({ status, place }).toEqual({ status: 303, place: `${baseUrl}/console` })
  expect(outcome['code']).toMatch(/^[0-9a-f]{64}$/)
  const [{ authorization = '', body } = { body: new URLSearchParams() }] = asked
  const given = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
  expect(given.map((part) => decodeURIComponent(part.replaceAll('+', ' ')))).toEqual(['site-admin', secret])
  const proved = createHash('sha256')
    .update(body.get('code_verifier') ?? '')
    .digest('base64url')
  expect(proved).toBe(begun.sent.get('code_challenge'))
  expect(body.get('redirect_uri')).toBe(`${baseUrl}${work}/callback`)
})

test('With an https address, the cookie is sent only over https (A-92)', async () => {
  expect((await begin()).header).toContain('; Secure')
})

test('A code works for 60 seconds, and signs the person in (A-53, A-96)', async () => {
  const redeem = async (seconds: number) => {
    const begun = await begin()
    answerWith(begun)
    const { code } = (await finish(begun)).outcome
    now += seconds * 1000
    const answer = await send(handler, 'POST', '/api/v2/admin/tokens', { body: { code, verifier } })
    now -= seconds * 1000
    return answer.status
  }
  expect(await redeem(59)).toBe(200)
  const days = (await hand.stores.people.listOfSites(site)).map(({ lastSignIn }) => lastSignIn)
  expect(days).toContain(new Date(now).toISOString().slice(0, 10))
  expect(await redeem(61)).toBe(401)
})

test.each<[string, (email: string) => Promise<unknown>]>([
  [
    'is removed (A-61, A-96)',
    async (email) => {
      const { people } = hand.stores
      const person = await people.get(email)
      if (person) await people.replace(person, undefined, [])
    },
  ],
  ['signs out (A-71, A-96)', (email) => endSessions({ ...hand.stores, clock, findSite: async () => undefined }, email)],
])('A code gives no session after its person %s', async (_, act) => {
  const begun = await begin()
  const sub = randomUUID()
  const email = `${sub}@example.com`
  answerWith(begun, { claims: { sub, email, email_verified: true }, person: { sub } })
  const { code } = (await finish(begun)).outcome
  await act(email)
  const answer = await send(handler, 'POST', '/api/v2/admin/tokens', { body: { code, verifier } })
  expect(answer).toMatchObject({ status: 401, json: { code: 101001 } })
})

test.each<[string, (email: string) => ProviderAnswer]>([
  ['token', (email) => ({ claims: { email }, person: { email: 'other@example.com', email_verified: true } })],
  ['person', (email) => ({ claims: { email_verified: true }, person: { email, email_verified: false } })],
])('An address of the %s is not verified by the other answer (A-94, A-95)', async (_, answersWith) => {
  const begun = await begin()
  const sub = randomUUID()
  const email = `${sub}@example.com`
  const { claims, person } = answersWith(email)
  answerWith(begun, { claims: { sub, ...claims }, person: { sub, ...person } })
  expect((await finish(begun)).outcome).toHaveProperty('code')
  expect(await hand.stores.people.get(email)).toBeUndefined()
})

test('After 50 failed sign-ins through an issuer, an address must wait (A-76, A-96)', async () => {
  const [address, other] = ['192.0.2.7', '192.0.2.8']
  const begun = await begin()
  answerWith(begun)
  const answersOf = async (attempts: number, given: Begun, from = address) => {
    const outcomes = []
    for (let index = 0; index < attempts; index++) outcomes.push((await finish(given, from)).outcome)
    return new Set(outcomes.map(({ error }) => error))
  }
  expect(await answersOf(51, { ...begun, cookie: '' })).toEqual(new Set(['101001']))
  expect(await answersOf(51, begun)).toEqual(new Set([undefined]))
  issuer.answers.set('/token', json({ error: 'invalid_grant' }, 400))
  expect(await answersOf(50, begun)).toEqual(new Set(['101001']))
  signIns.length = 0
  expect((await finish(begun, address)).outcome).toEqual({ error: '100429', request: 'test', wait: '1' })
  expect(signIns).toEqual([{ name: null, address, outcome: 'too many' }])
  expect(await answersOf(1, begun, other)).toEqual(new Set(['101001']))
})

test('Without a usable answer of the issuer, no sign-in counts as failed (A-76)', async () => {
  const begun = await begin()
  answerWith(begun)
  issuer.answers.set('/person', redirect)
  const outcomes = new Set<string | undefined>()
  for (let attempt = 0; attempt < 51; attempt++) outcomes.add((await finish(begun, '192.0.2.9')).outcome['error'])
  expect([...outcomes]).toEqual(['100503'])
})

test('The log says what an issuer refuses, without codes and secrets (A-75, A-93)', async () => {
  const begun = await begin()
  answerWith(begun)
  const { outcome } = await finish(begun)
  issuer.answers.set('/token', json({ error: 'invalid_client', hint: secret }, 401))
  await finish(await begin())
  const fault = messages.access.clientRefused(issuer.url)
  expect(signIns).toEqual([{ name: null, address: null, outcome: 'refused', fault }])
  const logged = JSON.stringify([records, signIns])
  const secrets = [secret, 'code-of-the-issuer', outcome['code'], begun.sent.get('state'), begun.cookie.slice(8)]
  expect(records).toHaveLength(4)
  expect(secrets.filter((each) => logged.includes(String(each)))).toEqual([])
})

const exchangeOf = async (jti: string) => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  subject_token: await issuer.sign({ sub: 'eve', aud: 'programs', groups: ['web'], jti }),
})

test('The log names the owner of an exchanged token (A-75, A-97)', async () => {
  const exchanged = await send(handler, 'POST', '/api/v2/admin/tokens', { body: await exchangeOf('1') })
  expect(exchanged.status).toBe(200)
  expect(signIns).toEqual([{ name: 'work:eve', address: null, outcome: 'signed in' }])
})

test('A token of an issuer still works after an exchange that got 503 (A-97, E-16)', async () => {
  const { grants } = hand.stores
  const put = vi.fn(grants.put).mockRejectedValueOnce(new ServiceError('unavailable'))
  const stores = { ...hand.stores, grants: { ...grants, put } }
  const busy = openHandler.access({ dataCentre: 'us' }, stores, { telemetry: { request: () => {} } })
  const count = async () => (await grants.list()).length
  const before = await count()
  const body = await exchangeOf('2')
  const statuses = []
  for (let time = 0; time < 3; time++) {
    statuses.push((await send(busy, 'POST', '/api/v2/admin/tokens', { body })).status)
  }
  expect({ statuses, added: (await count()) - before }).toEqual({ statuses: [503, 200, 400], added: 1 })
})

const { privateKey } = await generateKeyPair('RS256')

test.each<[string, ProviderAnswer]>([
  ['that another key has signed', { signing: { key: privateKey } }],
  ['for another client', { claims: { aud: 'other' } }],
  ['for programs', { claims: { aud: 'programs' } }],
  ['for several clients, and authorised for another one', { claims: { aud: ['site-admin', 'other'], azp: 'other' } }],
  ['with another nonce', { claims: { nonce: 'other' } }],
  ['without a nonce', { claims: { nonce: undefined } }],
  ['about another person', { person: { sub: 'adam' } }],
])('A token %s gives no code (A-91, A-92)', async (_, reported) => {
  const begun = await begin()
  answerWith(begun, reported)
  expect((await finish(begun)).outcome).toEqual(wrongPerson)
})

const huge: RequestListener = (_, response) =>
  void response.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"a":"${'x'.repeat(300_000)}"}`)

const unauthorised: RequestListener = (_, response) =>
  void response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="issuer"' }).end()

test.each<[string, string, RequestListener, object]>([
  ['redirects the request with the code', '/token', redirect, unavailable],
  ['redirects the request for the person', '/person', redirect, unavailable],
  ['answers the code with 300 KB', '/token', huge, unavailable],
  ['answers the code with a failure', '/token', json({}, 500), unavailable],
  ['refuses the client secret', '/token', unauthorised, unavailable],
  ['refuses the client', '/token', json({ error: 'unauthorized_client' }, 400), unavailable],
  ['answers the code with null', '/token', json(null), wrongPerson],
  ['answers without a token', '/token', json({ access_token: 'a', token_type: 'Bearer' }), wrongPerson],
  ['disconnects', '/token', (request) => void request.destroy(), unavailable],
])('A provider that %s gives no code (A-91)', async (_, path, answer, outcome) => {
  const begun = await begin()
  answerWith(begun)
  issuer.answers.set(path, answer)
  expect((await finish(begun)).outcome).toEqual(outcome)
})

test.each<[string, object]>([
  ['runs a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ['is a file', { authorization_endpoint: 'file:///etc/passwd' }],
  ['is not encrypted', { authorization_endpoint: 'http://evil.example/' }],
  ['is missing', { authorization_endpoint: undefined }],
])('If the sign-in page of a provider %s, no browser is sent there (A-92, A-96)', async (_, more) => {
  describeItself(more)
  const { status, headers } = await send(handler, 'GET', work, { query: { challenge } })
  const location = `${baseUrl}/console#${new URLSearchParams(unavailable)}`
  expect({ status, location: headers['location'] }).toEqual({ status: 303, location })
})
