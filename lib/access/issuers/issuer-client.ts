import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import { cachedLookup } from '../../core/cached-lookup.ts'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isTrustedAddress, TokenFault } from './issuers.ts'

export interface IssuerDocument {
  readonly issuer: string
  readonly jwks_uri: string
  readonly [member: string]: unknown
}

type FetchOnce = (address: string, init: Omit<RequestInit, 'body'> & { readonly body?: unknown }) => Promise<Response>

const algorithms = ['RS256', 'ES256', 'EdDSA']
const mostBytes = 256 * 1024
const rememberedFor = 600_000

// In seconds. A token older than `longestToken` is refused, so a used token need not be remembered longer.
export const clockSkew = 60
export const longestToken = 24 * 3600

const noAnswer = (issuer: string, reason: string) =>
  new ServiceError('unavailable', { message: `The issuer ${issuer} gave no usable answer: ${reason}. Repeat later.` })

class BadAnswer extends Error {}

const readWhole = async ({ body }: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > mostBytes) throw new BadAnswer(`the answer is larger than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks, length))
}

const requireAddress = (issuer: string, address: string): URL => {
  const url = URL.parse(address)
  if (url && isTrustedAddress(url, issuer.startsWith('http:'))) return url
  throw noAnswer(issuer, 'the answer has an address without https')
}

const answerTo = async (url: URL, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  const { status, headers } = response
  if (status >= 300 && status < 400) throw new BadAnswer('it redirects')
  if (status >= 500) throw new BadAnswer(`its status is ${status}`)
  const content = await readWhole(response)
  return new Response(content.length > 0 ? content : null, { status, headers })
}

const createFetch =
  (patience: number) =>
  (issuer: string): FetchOnce =>
  async (address, { body, ...init }) => {
    const url = requireAddress(issuer, address)
    const signal = AbortSignal.timeout(patience)
    try {
      return await answerTo(url, { ...init, body: body ? String(body) : null, signal })
    } catch (error) {
      if (error instanceof BadAnswer) throw noAnswer(issuer, error.message)
      throw noAnswer(issuer, signal.aborted ? 'the answer took too long' : 'the connection failed')
    }
  }

const parseObject = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
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
    if (error.reason === 'missing') return new TokenFault(`The token lacks the claim ${error.claim}.`)
    return new TokenFault(`The token is refused. ${sentences[error.claim] ?? `Its ${error.claim} is wrong.`}`)
  }
  if (error instanceof errors.JWKSInvalid || (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')) {
    return noAnswer(issuer, 'its keys cannot be read')
  }
  if (!(error instanceof errors.JOSEError || error instanceof TypeError)) return error
  return new TokenFault('The token is malformed, or none of the keys of its issuer has signed it.')
}

/**
 * The client of the servers of issuers. Caches configurations and keys. The URL of an issuer identifies it. `patience`
 * is the longest time for a whole answer, in milliseconds. A function of `fetchOf` sends one request, and follows no
 * redirects. It throws if the answer is late, incomplete or too large. `verify` (A-91) throws a TokenFault. Errors of
 * every call: unavailable.
 */
export const createIssuerClient = ({ clock }: { readonly clock: Clock }, patience = 5_000) => {
  const fetchOf = createFetch(patience)

  const load = async (issuer: string) => {
    const fetchOnce = fetchOf(issuer)
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await fetchOnce(address, { headers: { accept: 'application/json' } })
    const { jwks_uri: keysAt, ...others } = parseObject(response.status === 200 ? await response.text() : '')
    if (typeof keysAt !== 'string' || !URL.canParse(keysAt)) throw noAnswer(issuer, 'its configuration cannot be read')
    if (others['issuer'] !== issuer) throw noAnswer(issuer, 'its configuration names another issuer')
    const keys = createRemoteJWKSet(new URL(keysAt), { [customFetch]: fetchOnce, timeoutDuration: patience })
    return { document: { ...others, issuer, jwks_uri: keysAt }, keys }
  }
  const find = cachedLookup<string, Awaited<ReturnType<typeof load>>>(load, {
    ttl: rememberedFor,
    max: 100,
    now: clock.monotonic,
  })
  const known = async (issuer: string) => (await find(issuer)) ?? load(issuer)

  return {
    fetchOf,
    discover: async (issuer: string): Promise<IssuerDocument> => (await known(issuer)).document,

    async verify(
      jwt: string,
      issuer: string,
      audience: string,
      ...requiredClaims: readonly string[]
    ): Promise<JWTPayload> {
      const { keys } = await known(issuer)
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
