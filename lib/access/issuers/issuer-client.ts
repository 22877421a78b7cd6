import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import type { ServerMetadata } from 'openid-client'
import { cachedLookup } from '../../core/cached-lookup.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import { isTrustedAddress } from './issuers.ts'

type FetchOnce = (address: string, init: Omit<RequestInit, 'body'> & { readonly body?: unknown }) => Promise<Response>

const algorithms = ['RS256', 'ES256', 'EdDSA']
const mostBytes = 256 * 1024
const rememberedFor = 600_000

// In seconds. A token older than `longestToken` is refused, so a used token need not be remembered longer.
export const clockSkew = 60
export const longestToken = 24 * 3600

export const refusedGrant = (message: string) => new ServiceError('exchangeRefused', { message })

const noAnswer = (issuer: string, reason: string) =>
  new ServiceError('unavailable', { message: `The issuer ${issuer} gave no usable answer: ${reason}. Repeat later.` })

const readAnswer = async (issuer: string, { status, headers, body }: Response): Promise<Response> => {
  if (status >= 300 && status < 400) throw noAnswer(issuer, 'it redirects')
  if (status >= 500) throw noAnswer(issuer, `its status is ${status}`)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > mostBytes) throw noAnswer(issuer, `the answer is larger than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return new Response(length > 0 ? new Uint8Array(Buffer.concat(chunks, length)) : null, { status, headers })
}

const createFetch =
  (issuer: string, patience: number): FetchOnce =>
  async (address, { body, ...init }) => {
    const url = URL.parse(address)
    if (!url || !isTrustedAddress(url, issuer.startsWith('http:')))
      throw noAnswer(issuer, 'the answer has an address without https')
    const signal = AbortSignal.timeout(patience)
    try {
      const response = await fetch(url, { ...init, body: body ? String(body) : null, redirect: 'manual', signal })
      return await readAnswer(issuer, response)
    } catch (error) {
      if (error instanceof ServiceError) throw error
      throw noAnswer(issuer, signal.aborted ? 'the answer took too long' : 'the connection failed')
    }
  }

const sentences: Readonly<Record<string, string>> = {
  aud: 'It is for another audience. Ask its issuer for a token with the audience that "issuer list" shows.',
  exp: 'It has expired. Ask its issuer for a new one.',
  nbf: 'It is not valid yet. Check the clocks of the issuer and of the service.',
  iat: 'It is from the future or older than a day. Ask its issuer for a new one.',
}

// The library checks the signature before the claims. So only a caller with a genuine token gets a reason that names a
// claim.
const faultOf = (error: unknown, issuer: string): unknown => {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
    if (error.reason === 'missing') {
      return refusedGrant(`The token lacks the claim ${error.claim}. Ask its issuer for a token with this claim.`)
    }
    return refusedGrant(`The token is refused. ${sentences[error.claim] ?? `Its ${error.claim} is wrong.`}`)
  }
  if (error instanceof errors.JWKSInvalid || (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')) {
    return noAnswer(issuer, 'its keys cannot be read')
  }
  if (!(error instanceof errors.JOSEError || error instanceof TypeError)) return error
  if (error instanceof errors.JOSEAlgNotAllowed)
    return refusedGrant(`The token is refused. Ask its issuer to sign with ${algorithms.join(', ')}.`)
  return refusedGrant(
    'The token is malformed, or none of the keys of its issuer has signed it. Ask its issuer for a new one.',
  )
}

/**
 * The client of the servers of issuers. Caches configurations and keys. The URL of an issuer identifies it. `patience`
 * is the longest time for a whole answer, in milliseconds. A function of `fetchOf` sends one request, and follows no
 * redirects. It throws if the answer is late, incomplete or too large. `verify` (A-91) throws exchangeRefused.
 * Errors of every call: unavailable.
 */
export const createIssuerClient = ({ clock }: { readonly clock: Clock }, patience = 5_000) => {
  const fetchOf = (issuer: string) => createFetch(issuer, patience)

  const load = async (issuer: string) => {
    const fetchOnce = fetchOf(issuer)
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await fetchOnce(address, { headers: { accept: 'application/json' } })
    const document: ServerMetadata = Object(response.status === 200 && (await response.json().catch(() => {})))
    const keysAt = URL.parse(document.jwks_uri ?? '')
    if (!keysAt) throw noAnswer(issuer, 'its configuration cannot be read')
    if (document.issuer !== issuer) throw noAnswer(issuer, 'its configuration names another issuer')
    const keys = createRemoteJWKSet(keysAt, { [customFetch]: fetchOnce, timeoutDuration: patience })
    return { document, keys }
  }
  const find = cachedLookup(load, { ttl: rememberedFor, max: 100, now: clock.monotonic })

  return {
    fetchOf,
    discover: async (issuer: string) => (await find(issuer)).document,

    async verify(jwt: string, issuer: string, audience: string, ...requiredClaims: readonly string[]) {
      const { keys } = await find(issuer)
      try {
        const { payload } = await jwtVerify(jwt, keys, {
          issuer,
          audience,
          algorithms,
          clockTolerance: clockSkew,
          maxTokenAge: longestToken,
          requiredClaims: ['exp', 'sub', ...requiredClaims],
          currentDate: new Date(clock.wall()),
        })
        return payload
      } catch (error) {
        throw faultOf(error, issuer)
      }
    },
  }
}

export type IssuerClient = ReturnType<typeof createIssuerClient>
