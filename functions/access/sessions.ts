import { hash } from 'node:crypto'
import type * as z from 'zod/mini'
import { type Caller, callerOf, grantEntries, hashToken, kindOf, rightsOn } from '../../lib/access/grants.ts'
import { describeEntry } from '../../lib/access/people.ts'
import {
  acceptInvitation as accept,
  authenticatePerson,
  beginSession,
  changePassword as change,
  endSessions,
  siteSession,
} from '../../lib/access/sign-in.ts'
import { rememberSignIn } from '../../lib/access/sign-in-limits.ts'
import type { exchanged as exchangedAnswer, me, token as tokenAnswer } from '../../lib/contract/access/answers.ts'
import type { signInBody } from '../../lib/contract/access/bodies.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { textOfRight } from '../../lib/core/rights.ts'
import { inIso } from '../../lib/core/time.ts'
import {
  bodiesOf,
  type CallerOperation,
  checkDocument,
  type PublicOperation,
  readBody,
} from '../../lib/http/operation.ts'
import { done, neverStored, ok, type Reply, secret } from '../../lib/http/reply.ts'
import type { Request, RoutedRequest } from '../../lib/http/request.ts'
import { findHere, siteIdIn } from '../../lib/http/resolve-site.ts'
import { xmlNames } from '../../lib/http/write-xml.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { codeKey, type IssuerDeps, logSignIn, type SignedIn } from './external-sign-in.ts'

const schemas = () => import('../../lib/contract/access/bodies.ts')

const bodyOf = bodiesOf({ schemas, malformed: 'accessMalformed' })

/** Errors: signInRefused. */
const requireHttps = async ({ edge, insecureSignIn }: AccessDeps, { address }: Request): Promise<void> => {
  if (insecureSignIn) return
  const { protocol, hostname } = new URL((await findHere(edge)).url)
  const caller = address ?? hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'https:' || caller === 'localhost' || caller === '::1' || caller.startsWith('127.')) return
  throw new ServiceError('signInRefused', {
    message:
      'The service accepts passwords only over https, except from its own machine. Use the https address. If the service has no https address, ' +
      'ask the operator to set --base-url, or --insecure-sign-in.',
  })
}

/** Logs the outcome of a sign-in. `known` is the name in the log if the sign-in fails. */
const logged = async <Signed extends { readonly name: string }>(
  deps: AccessDeps,
  request: Request,
  known: string | null,
  signIn: Promise<Signed>,
): Promise<Signed> => {
  try {
    const signed = await signIn
    logSignIn(deps, request, signed.name)
    return signed
  } catch (error) {
    logSignIn(deps, request, known, error)
    throw error
  }
}

const tokenReply = (token: string) =>
  ok<Answer<typeof tokenAnswer>>({ token }, { xml: xmlNames.token, headers: neverStored })

const form = async (text: string): Promise<unknown> => (await import('../../lib/http/form.ts')).readForm(text, 100)
// Reads all members as texts, because a password may look like a number.
const xml = async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXml(text, String)

/** The answer encodes the folders of rights, because a scope cannot contain all of their characters. */
const exchange = async (deps: IssuerDeps, document: unknown) => {
  const { exchangeGrant, issuedType } = await schemas()
  if (Object(document).grant_type !== exchangeGrant) throw new ServiceError('grantTypeUnknown')
  const shape = { ...bodyOf('exchangeBody'), malformed: 'exchangeMalformed' } as const
  const { subject_token: jwt, resource } = await checkDocument(document, shape)
  const { exchangeToken } = await import('../../lib/access/issuers/exchange.ts')
  const client = await deps.openIssuerClient()
  const { token, user: name, ttl, rights } = await exchangeToken({ ...deps, client }, jwt, resource)
  const reply = secret<Answer<typeof exchangedAnswer>>({
    access_token: token,
    issued_token_type: issuedType,
    token_type: 'Bearer',
    expires_in: ttl,
    scope: rights.map((right) => encodeURI(textOfRight(right))).join(' '),
  })
  return { name, reply }
}

/** the code cannot be used again, even if this attempt fails. */
const redeem = async (deps: IssuerDeps, { address }: RoutedRequest, document: unknown) => {
  const { code, verifier, tokenExpiryPeriod } = await checkDocument(document, bodyOf('codeBody'))
  const stored = await deps.accessValues.take(codeKey(hashToken(code)))
  const signedIn: SignedIn | undefined = stored === undefined ? undefined : JSON.parse(stored)
  if (signedIn?.challenge !== hash('sha256', verifier, 'base64url')) {
    const message = 'The code is unknown, used or older than 60 seconds. Sign in again.'
    throw new ServiceError('signInRefused', { message })
  }
  const person = await deps.people.get(signedIn.name)
  if (!person || person.sessions !== signedIn.sessions || person.disabled) throw new ServiceError('signInRefused')
  const remembered = rememberSignIn(person, address, deps.clock.wall())
  if (remembered !== person) await deps.people.replace(person, remembered, [])
  return { name: person.name, reply: tokenReply(await beginSession(deps, person, tokenExpiryPeriod)) }
}

type Credentials = z.output<typeof signInBody>

const signInWith = async (deps: AccessDeps, request: RoutedRequest, credentials: Credentials): Promise<Reply> => {
  await requireHttps(deps, request)
  const known = await deps.people.get(credentials.username)
  const signIn = authenticatePerson(deps, { ...credentials, address: request.address }, known)
  const person = await logged(deps, request, known?.name ?? null, signIn)
  return tokenReply(await beginSession(deps, person, credentials.tokenExpiryPeriod))
}

/**
 * a wrong name takes as much work as a wrong password, and both get 401/101001.: sign-ins
 * without a password.
 */
export const signIn: PublicOperation<IssuerDeps> = async (request, deps) => {
  const { readDocument } = await import('../../lib/http/read-body.ts')
  const document = await readDocument(request, 'accessMalformed', { form })
  const members = Object(document)
  if ('grant_type' in members) return (await logged(deps, request, null, exchange(deps, document))).reply
  if ('code' in members) return (await logged(deps, request, null, redeem(deps, request, document))).reply
  return signInWith(deps, request, await checkDocument(document, bodyOf('signInBody')))
}

export const signInV1: PublicOperation<AccessDeps> = async (request, deps) =>
  signInWith(deps, request, await readBody(request, { ...bodyOf('signInBody'), form, xml }))

/** 404/101003 for an invitation that is unknown, used or expired, 400/101013 for a weak password. */
export const acceptInvitation: PublicOperation<AccessDeps> = async (request, deps) => {
  await requireHttps(deps, request)
  const { invitation, password, tokenExpiryPeriod } = await readBody(request, bodyOf('invitationBody'))
  const { name, token } = await accept(deps, invitation, { password, address: request.address }, tokenExpiryPeriod)
  logSignIn(deps, request, name)
  return tokenReply(token)
}

/** Errors: signInRefused, for keys and for tokens without a person. */
const requirePerson = ({ kind, person }: Caller) => {
  if (kind === 'session' && person) return person
  throw new ServiceError('signInRefused', {
    message: 'This needs the token of a sign-in. Sign in with name and password.',
  })
}

/** 401/101001 if the person does not have the site, or if the site is in another data centre. */
export const createSiteToken: CallerOperation<AccessDeps> = async ({ caller: cached, params }, deps) => {
  const person = await deps.people.get(requirePerson(cached).name)
  const caller = callerOf(cached, person)
  if (!person || !caller) throw new ServiceError('tokenRejected')
  const id = siteIdIn(String(params['ownSite']), caller, { siteAmbiguous: 'siteAmbiguous' })
  const site = id === undefined ? undefined : await deps.findSite(id)
  if (site?.dataCentre !== deps.edge.dataCentre) {
    throw new ServiceError('signInRefused', {
      message: 'You have no site with this id in this data centre. GET /api/v1/admin/sites lists your sites.',
    })
  }
  return tokenReply(await siteSession(deps.grants, caller, person, site.id))
}

/** */
export const signOut: CallerOperation<AccessDeps> = async ({ caller, query, id: requestId }, deps) => {
  const entries = grantEntries('removed', caller, { actor: caller.user, requestId })
  if (query.has('all')) await endSessions(deps, requirePerson(caller).name)
  else await deps.grants.remove(caller.hash, entries)
  return done
}

/** */
export const getMe: CallerOperation = async ({ caller }) => {
  const { person, sites, user, expires } = caller
  return ok<Answer<typeof me>>({
    name: person?.name ?? user,
    displayName: person?.displayName ?? null,
    email: person?.email ?? null,
    lastSignIn: person?.lastSignIn ?? null,
    kind: kindOf(caller),
    hasPassword: person?.password !== undefined,
    expires: inIso(expires),
    sites: sites.map((id) => ({
      id,
      ...describeEntry(person?.sites[id]),
      rights: rightsOn(caller, id).map(textOfRight),
    })),
  })
}

/** 401/101001 for a wrong old password, 400/101013 for a weak new one. */
export const changePassword: CallerOperation<AccessDeps> = async (request, deps) => {
  const { caller, address } = request
  const { name: username } = requirePerson(caller)
  await requireHttps(deps, request)
  const { password, oldPassword } = await readBody(request, bodyOf('passwordBody'))
  await change(deps, caller, { username, password: oldPassword, address }, password)
  return done
}
