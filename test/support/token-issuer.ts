import type { webcrypto } from 'node:crypto'
import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, SignJWT } from 'jose'
import { closeAtOnce, listen } from './listen.ts'

export const listenHere = async (listener: RequestListener) => {
  const server = createServer(listener).unref()
  return { url: await listen(server), close: async () => closeAtOnce(server) }
}

type Claims = Readonly<Record<string, unknown>>

/** The claims that a test sets in the token of a job of GitHub Actions. `undefined` leaves a claim out. */
export const githubClaims = (claims: Claims = {}): Claims => ({
  jti: randomUUID(),
  sub: 'repo:acme/site:ref:refs/heads/main',
  repository: 'acme/site',
  repository_owner: 'acme',
  ref: 'refs/heads/main',
  workflow_ref: 'acme/site/.github/workflows/publish.yml@refs/heads/main',
  event_name: 'push',
  run_attempt: '1',
  ...claims,
})

interface Signing {
  readonly key?: webcrypto.CryptoKey | Uint8Array
  readonly alg?: string
  readonly kid?: string
}

type Algorithm = 'RS256' | 'ES256' | 'EdDSA' | 'PS256'

/** An issuer of tokens with an endpoint for its keys. `answers` replaces the answers of its paths. */
export const startTokenIssuer = async () => {
  const algorithms = ['RS256', 'ES256', 'EdDSA', 'PS256'] as const
  const pairs = new Map<Algorithm, GenerateKeyPairResult>()
  for (const alg of algorithms) pairs.set(alg, await generateKeyPair(alg, { extractable: true }))
  const keys = await Promise.all(
    [...pairs].map(async ([alg, { publicKey }]) => ({ ...(await exportJWK(publicKey)), kid: alg, alg, use: 'sig' })),
  )
  const answers = new Map<string, RequestListener>()
  const asked: string[] = []
  const { url, close } = await listenHere((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const own = answers.get(path)
    if (own) return own(request, response)
    const documents: Readonly<Record<string, object>> = {
      '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys },
    }
    response.writeHead(path in documents ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(documents[path]))
  })
  return {
    url,
    answers,
    asked,
    close,
    keys,
    publicKey: (alg: Algorithm) => pairs.get(alg)?.publicKey as webcrypto.CryptoKey,

    sign(claims: Claims = githubClaims(), { alg = 'RS256', kid = alg, key }: Signing = {}): Promise<string> {
      const now = Math.floor(Date.now() / 1000)
      const usual = { iss: url, aud: 'site-admin', iat: now, nbf: now, exp: now + 300 }
      const payload = Object.fromEntries(
        Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined),
      )
      const own = key ?? pairs.get(alg as Algorithm)?.privateKey
      if (!own) throw new Error(`The issuer has no key for ${alg}`)
      return new SignJWT(payload).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(own)
    },
  }
}

export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>

/** An issuer through which one person signs in: it exchanges every code for a token with this nonce. */
export const startProvider = async (nonce: string): Promise<TokenIssuer> => {
  const issuer = await startTokenIssuer()
  const { url } = issuer
  const answerJson = (value: object): RequestListener => {
    const body = JSON.stringify(value)
    return (_, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
  }
  const endpoints = { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` }
  const configuration = answerJson({ issuer: url, jwks_uri: `${url}/keys`, ...endpoints })
  issuer.answers.set('/.well-known/openid-configuration', configuration)
  const eve = { sub: 'eve', groups: ['web'], email: 'eve@example.com', email_verified: true }
  const id_token = await issuer.sign({ ...eve, aud: 'site-admin', nonce })
  issuer.answers.set('/token', answerJson({ access_token: 'access', token_type: 'Bearer', id_token }))
  return issuer
}
