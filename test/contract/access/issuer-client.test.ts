import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import { exportSPKI, generateKeyPair } from 'jose'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createIssuerClient, type IssuerClient } from '../../../lib/access/issuers/issuer-client.ts'
import { errors, ServiceError } from '../../../lib/core/errors.ts'
import { systemClock } from '../../../lib/core/time.ts'
import { githubClaims, startTokenIssuer } from '../../support/token-issuer.ts'

const issuer = await startTokenIssuer()
let client: IssuerClient
beforeEach(() => {
  issuer.answers.clear()
  issuer.asked.length = 0
  client = createIssuerClient({ clock: systemClock })
})
afterAll(() => issuer.close())

const verify = (jwt: string, by = client) => by.verify(jwt, issuer.url, 'site-admin', 'jti')
const seconds = (from = 0) => Math.floor(Date.now() / 1000) + from
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each(['RS256', 'ES256', 'EdDSA'])('A token that is signed with %s is accepted (A-91)', async (alg) => {
  const claims = githubClaims()
  expect(await verify(await issuer.sign(claims, { alg }))).toMatchObject({ ...claims, iss: issuer.url })
})

test('A clock that differs by 59 seconds is tolerated (A-91)', async () => {
  const late = githubClaims({ exp: seconds(-50), iat: seconds(-300), nbf: seconds(-300) })
  const early = githubClaims({ exp: seconds(300), iat: seconds(50), nbf: seconds(50) })
  for (const claims of [late, early]) expect(await verify(await issuer.sign(claims))).toMatchObject(claims)
})

test('A token for one of several audiences is accepted (A-91)', async () => {
  const claims = githubClaims({ aud: ['other', 'site-admin'] })
  expect(await verify(await issuer.sign(claims))).toMatchObject(claims)
})

test.each<[string, () => Promise<string>]>([
  ['of the algorithm none', async () => `${encoded({ alg: 'none' })}.${encoded(githubClaims({ iss: issuer.url }))}.`],
  ['without a signature', async () => (await issuer.sign()).replace(/[^.]+$/, '')],
  ['of an algorithm that is not listed', () => issuer.sign(githubClaims(), { alg: 'PS256' })],
  [
    'signed with the public key as a secret',
    async () =>
      issuer.sign(githubClaims(), {
        alg: 'HS256',
        kid: 'RS256',
        key: new TextEncoder().encode(await exportSPKI(issuer.publicKey('RS256'))),
      }),
  ],
  ['signed by others', async () => issuer.sign(githubClaims(), { key: (await generateKeyPair('RS256')).privateKey })],
  ['of an unknown key', () => issuer.sign(githubClaims(), { kid: 'other' })],
  ['with changed claims', async () => (await issuer.sign()).replace(/\.[^.]+\./, `.${encoded(githubClaims())}.`)],
  ['of another issuer', () => issuer.sign(githubClaims({ iss: 'https://other.example' }))],
  ['for another audience', () => issuer.sign(githubClaims({ aud: 'other' }))],
  ['without an audience', () => issuer.sign(githubClaims({ aud: undefined }))],
  ['that expired 61 seconds ago', () => issuer.sign(githubClaims({ exp: seconds(-61) }))],
  ['that never expires', () => issuer.sign(githubClaims({ exp: undefined }))],
  ['that is valid in 2 minutes', () => issuer.sign(githubClaims({ nbf: seconds(120) }))],
  ['from the future', () => issuer.sign(githubClaims({ iat: seconds(120) }))],
  ['older than a day', () => issuer.sign(githubClaims({ iat: seconds(-90_000), exp: seconds(900) }))],
  ['without jti', () => issuer.sign(githubClaims({ jti: undefined }))],
  ['without sub', () => issuer.sign(githubClaims({ sub: undefined }))],
  ['that is not a token', async () => 'hello'],
])('A token %s is refused (A-91)', async (_, make) => {
  await expect(verify(await make())).rejects.toMatchObject({ code: errors.exchangeRefused.code })
})

const answer =
  (body: string, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
  }
const configuration = '/.well-known/openid-configuration'
const document = (more: object) =>
  answer(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...more }))

test('The configuration of an issuer that ends with a slash is found (A-91)', async () => {
  const tenant = `${issuer.url}/tenant/`
  issuer.answers.set(`/tenant${configuration}`, document({ issuer: tenant }))
  const token = await issuer.sign(githubClaims({ iss: tenant }))
  expect(await client.verify(token, tenant, 'site-admin', 'jti')).toMatchObject({ iss: tenant })
})

const endless: RequestListener = (_, response) => {
  function* blanks() {
    for (;;) yield ' '.repeat(64 * 1024)
  }
  Readable.from(blanks()).pipe(response.writeHead(200, { 'Content-Type': 'application/json' }))
}

test.each<[string, string, () => RequestListener]>([
  ['names another issuer', configuration, () => document({ issuer: 'https://other.example' })],
  ['adds a slash to its name', configuration, () => document({ issuer: `${issuer.url}/` })],
  ['does not name the address of its keys', configuration, () => document({ jwks_uri: undefined })],
  ['names no whole address of its keys', configuration, () => document({ jwks_uri: 'keys' })],
  ['names an address without https', configuration, () => document({ jwks_uri: 'http://169.254.169.254/keys' })],
  ['names a file', configuration, () => document({ jwks_uri: 'file:///etc/passwd' })],
  ['redirects', configuration, () => answer('', 302, { Location: 'http://169.254.169.254/' })],
  ['redirects its keys', '/keys', () => answer('', 307, { Location: `${issuer.url}/keys` })],
  ['answers with a failure', configuration, () => answer('{}', 500)],
  ['answers a request for its keys with a failure', '/keys', () => answer('{}', 500)],
  ['does not answer with JSON', configuration, () => answer('<html>')],
  ['answers with null', configuration, () => answer('null')],
  ['answers with keys that are not keys', '/keys', () => answer('{"keys":7}')],
  ['answers without end', configuration, () => endless],
  ['answers with keys without end', '/keys', () => endless],
  ['disconnects', configuration, () => (request) => void request.destroy()],
])('If an issuer %s, its tokens are refused with 503 (A-91)', async (_, path, make) => {
  issuer.answers.set(path, make())
  const refused = verify(await issuer.sign())
  await expect(refused).rejects.toThrow(ServiceError)
  await expect(refused).rejects.toMatchObject({ status: 503 })
})

test.each<[string, string, RequestListener]>([
  ['does not answer', configuration, () => {}],
  ['does not send its keys', '/keys', () => {}],
  ['never ends its answer', '/keys', (_, response) => void response.writeHead(200).write('{')],
])('If an issuer %s, the service stops waiting and answers 503 (A-91)', async (_, path, silence) => {
  issuer.answers.set(path, silence)
  const impatient = createIssuerClient({ clock: systemClock }, 100)
  await expect(verify(await issuer.sign(), impatient)).rejects.toMatchObject({ status: 503 })
})

test("Many tokens cause only one read of the issuer's configuration (A-91)", async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.sign()))
  await Promise.all(tokens.map((token) => verify(token)))
  expect(issuer.asked).toEqual([configuration, '/keys'])
})
