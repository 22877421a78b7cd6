import { hashToken, newToken } from '../../lib/access/grants.ts'
import type { IssuerClient } from '../../lib/access/issuers/issuer-client.ts'
import type { Issuer, IssuerOfPeople } from '../../lib/access/issuers/issuers.ts'
import type { Person } from '../../lib/access/people.ts'
import { countedAttempt, limitsOfAddress } from '../../lib/access/sign-in-limits.ts'
import type { issuers as issuersAnswer } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { PublicOperation } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { firstValue, queryText, type Request, type RoutedRequest } from '../../lib/http/request.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

export interface IssuerDeps extends AccessDeps {
  readonly openIssuerClient: () => Promise<IssuerClient>
}

export interface SignedIn extends Pick<Person, 'name' | 'sessions'> {
  readonly challenge: string
}

/** Without an error, the sign-in succeeded. */
export const logSignIn = ({ edge }: AccessDeps, { address }: Request, name: string | null, error?: unknown): void => {
  const isTooMany = error instanceof ServiceError && error.status === 429
  const outcome = error === undefined ? 'signed in' : isTooMany ? 'too many' : 'refused'
  const fault = error instanceof ServiceError && error.status >= 500 ? { fault: error.message } : {}
  edge.telemetry.signIn?.({ name, address: address ?? null, outcome, ...fault })
}

export const codeKey = (hash: string): string => `code/${hash}`

// In seconds.
const codeLasts = 60
const signInLasts = 600

const isForSignIn = (issuer: Issuer | undefined): issuer is IssuerOfPeople => issuer?.clientId !== undefined

export const listIssuers: PublicOperation<IssuerDeps> = async (_, { issuers }) => {
  const found = (await issuers.trust()).issuers.filter(isForSignIn)
  return ok<Answer<typeof issuersAnswer>>({ items: found.map(({ id }) => ({ id })) })
}

const providerOf = async (deps: IssuerDeps, { params }: RoutedRequest) => {
  const trust = await deps.issuers.trust()
  const issuer = trust.issuers.find(({ id }) => id === params['issuer'])
  if (!isForSignIn(issuer)) {
    throw new ServiceError('routeUnknown', {
      message: 'People cannot sign in through this issuer. GET /api/v2/admin/sign-in lists the issuers for people.',
    })
  }
  const [client, secret, { url: baseUrl }] = await Promise.all([
    deps.openIssuerClient(),
    deps.findClientSecret(issuer.id),
    findHere(deps.edge),
  ])
  const place = `${baseUrl}/api/v2/admin/sign-in/${issuer.id}`
  return { trust, baseUrl, place, client, issuer, secret, callback: `${place}/callback` }
}

type Provided = Awaited<ReturnType<typeof providerOf>>

// The path limits the cookie to the addresses of this sign-in.
const goTo = (location: string, { place }: Provided, cookie: string, seconds: number): Reply => {
  const { pathname, protocol } = new URL(place)
  const attributes = [`sign-in=${cookie}`, 'HttpOnly', 'SameSite=Lax', `Path=${pathname}`, `Max-Age=${seconds}`]
  if (protocol === 'https:') attributes.push('Secure')
  return {
    status: 303,
    headers: { Location: location, 'Set-Cookie': attributes.join('; '), 'Cache-Control': 'no-store' },
  }
}

const goToConsole = (provided: Provided, outcome: Readonly<Record<string, string>>): Reply =>
  goTo(`${provided.baseUrl}/console#${new URLSearchParams(outcome)}`, provided, '', 0)

/** sends the browser to the console with the error code, which the console explains. `wait` is in seconds. */
const failAtConsole = (deps: IssuerDeps, request: RoutedRequest, provided: Provided, error: unknown) => {
  if (!(error instanceof ServiceError)) throw error
  logSignIn(deps, request, null, error)
  const wait = error.headers['Retry-After']
  return goToConsole(provided, { error: String(error.code), request: request.id, ...(wait !== undefined && { wait }) })
}

/** */
export const beginExternalSignIn: PublicOperation<IssuerDeps> = async (request, deps) => {
  const challenge = firstValue(request.query, 'challenge') ?? ''
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw new ServiceError('accessMalformed', {
      message: 'challenge must be the SHA-256 of a verifier, in base64url. The console sends it.',
    })
  }
  const provided = await providerOf(deps, request)
  const { beginSignIn } = await import('../../lib/access/issuers/sign-in.ts')
  try {
    const { location, state, nonce, verifier } = await beginSignIn(provided)
    return goTo(location, provided, [state, nonce, verifier, challenge].join('.'), signInLasts)
  } catch (error) {
    return failAtConsole(deps, request, provided, error)
  }
}

const readBegun = ({ headers }: RoutedRequest) => {
  const [, value = ''] = /(?:^|;\s*)sign-in=([\w.-]{1,2000})(?:;|$)/.exec(headers['cookie'] ?? '') ?? []
  const [state, nonce, verifier, challenge] = value.split('.')
  return state && nonce && verifier && challenge ? { state, nonce, verifier, challenge } : undefined
}

/** Returns a code for the person. The code works once. A-76: counts a failure if this browser began the sign-in. */
const codeFor = async (deps: IssuerDeps, request: RoutedRequest, provided: Provided): Promise<string> => {
  const begun = readBegun(request)
  if (!begun) throw new ServiceError('signInRefused')
  const { name, sessions } = await countedAttempt(deps.attempts, limitsOfAddress(request.address), async () => {
    const { findPerson, finishSignIn } = await import('../../lib/access/issuers/sign-in.ts')
    const claims = await finishSignIn(provided, queryText(request), begun)
    const person = await findPerson(deps, { ...provided, claims, requestId: request.id })
    if (!person || person.disabled) throw new ServiceError('signInRefused')
    return person
  })
  const code = newToken()
  const signedIn: SignedIn = { name, sessions, challenge: begun.challenge }
  const expires = Math.floor(deps.clock.wall() / 1000) + codeLasts
  await deps.accessValues.put(codeKey(hashToken(code)), JSON.stringify(signedIn), expires)
  return code
}

/** */
export const finishExternalSignIn: PublicOperation<IssuerDeps> = async (request, deps) => {
  const provided = await providerOf(deps, request)
  try {
    return goToConsole(provided, { code: await codeFor(deps, request, provided) })
  } catch (error) {
    return failAtConsole(deps, request, provided, error)
  }
}
