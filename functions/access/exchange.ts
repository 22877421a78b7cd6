import { hash } from 'node:crypto'
import { hashToken } from '../../lib/access/grants.ts'
import { beginSession } from '../../lib/access/sessions.ts'
import { rememberSignIn } from '../../lib/access/sign-in-limits.ts'
import type { exchanged as exchangedAnswer } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { textOfRight } from '../../lib/core/rights.ts'
import type { RoutedRequest } from '../../lib/http/operation.ts'
import { secret } from '../../lib/http/reply.ts'
import { loadChecks } from './bodies.ts'
import { codeKey, type IssuerDeps, type SignedIn } from './external-sign-in.ts'
import { logged } from './sign-in-log.ts'
import { tokenReply } from './token-reply.ts'

/** The answer encodes the folders of rights, because a scope cannot contain all of their characters. */
const exchange = async (deps: IssuerDeps, _: RoutedRequest, document: object) => {
  const { exchangeBody, exchangeGrant, issuedType, validate } = await loadChecks()
  if (Object(document).grant_type !== exchangeGrant) throw new ServiceError('grantTypeUnknown')
  const { subject_token: jwt, resource } = validate(exchangeBody, document, 'exchangeMalformed')
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
const redeem = async (deps: IssuerDeps, request: RoutedRequest, document: object) => {
  const { codeBody, validate } = await loadChecks()
  const { code, verifier, tokenExpiryPeriod } = validate(codeBody, document, 'accessMalformed')
  const stored = await deps.accessValues.take(codeKey(hashToken(code)))
  const signedIn: SignedIn | undefined = stored === undefined ? undefined : JSON.parse(stored)
  if (signedIn?.challenge !== hash('sha256', verifier, 'base64url')) {
    const message = 'The code is unknown, used or older than 60 seconds. Sign in again.'
    throw new ServiceError('signInRefused', { message })
  }
  const person = await deps.people.get(signedIn.name)
  if (!person || person.sessions !== signedIn.sessions || person.disabled) throw new ServiceError('signInRefused')
  const remembered = rememberSignIn(person, request.address, deps.clock.wall())
  if (remembered !== person) await deps.people.replace(person, remembered, [])
  return { name: person.name, reply: tokenReply(await beginSession(deps, person, tokenExpiryPeriod)) }
}

/** Answers a sign-in with a code or with a token of an issuer. Returns undefined for a sign-in with a password. */
export const signInWithoutPassword = async (deps: IssuerDeps, request: RoutedRequest, document: unknown) => {
  if (typeof document !== 'object' || document === null) return undefined
  const signIn = 'grant_type' in document ? exchange : 'code' in document ? redeem : undefined
  return signIn && (await logged(deps, request, null, signIn(deps, request, document))).reply
}
