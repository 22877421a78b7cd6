import { hash } from 'node:crypto'
import * as library from 'openid-client'
import { type ErrorName, errors, ServiceError } from '../../core/errors.ts'
import { isEmail, isPersonName, newPerson, type Person, personEntries, sitesOfPerson } from '../people.ts'
import { openInvitation, type SignInDeps, withoutSessions } from '../sign-in.ts'
import { clockSkew, type IssuerClient } from './issuer-client.ts'
import {
  type Claims,
  type Issuer,
  type IssuerOfPeople,
  inOneLine,
  isForPeople,
  isTrustedAddress,
  type KeyedValues,
  matchingRules,
  type Trust,
} from './issuers.ts'

export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

interface Provider {
  readonly client: IssuerClient
  readonly issuer: IssuerOfPeople
  readonly secret: string | undefined
  readonly callback: string
}

const authenticationOf = (document: library.ServerMetadata, secret: string | undefined) => {
  if (secret === undefined) return library.None()
  const isPostOnly = document.token_endpoint_auth_methods_supported?.includes('client_secret_basic') === false
  return isPostOnly ? library.ClientSecretPost(secret) : library.ClientSecretBasic(secret)
}

const configure = async ({ client, issuer, secret }: Provider): Promise<library.Configuration> => {
  const document = await client.discover(issuer.url)
  const tolerance = { [library.clockTolerance]: clockSkew }
  const authentication = authenticationOf(document, secret)
  const configuration = new library.Configuration(document, issuer.clientId, tolerance, authentication)
  configuration[library.customFetch] = client.fetchOf(issuer.url)
  if (issuer.url.startsWith('http:')) library.allowInsecureRequests(configuration)
  return configuration
}

// Hides the errors of the library, because they may contain tokens of the issuer.
const faultIn = (error: unknown, otherwise: ErrorName): ServiceError => {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ServiceError && each.code === errors.unavailable.code) return each
  }
  return new ServiceError(otherwise)
}

const clientFault = (issuer: Issuer, error: unknown): unknown => {
  const { status, error: reason } = Object(error)
  if (status !== 401 && !['invalid_client', 'unauthorized_client'].includes(reason)) return error
  const message = `The issuer ${issuer.url} refuses the client id or the client secret of this service. Correct them.`
  return new ServiceError('unavailable', { message })
}

/** returns the address to which the browser goes, at the issuer. Errors: unavailable. */
export const beginSignIn = async (provider: Provider): Promise<Begun & { readonly location: string }> => {
  try {
    const configuration = await configure(provider)
    const state = library.randomState()
    const nonce = library.randomNonce()
    const verifier = library.randomPKCECodeVerifier()
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: provider.callback,
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    if (!isTrustedAddress(url, provider.issuer.url.startsWith('http:')))
      throw new Error('The sign-in page of the issuer has no https')
    return { location: url.href, state, nonce, verifier }
  } catch (error) {
    throw faultIn(error, 'unavailable')
  }
}

/** the answer that verifies one address says nothing about an address in the other answer. */
const mergeClaims = (ofPerson: Claims, ofToken: Claims): Claims => {
  const claims: Claims = { ...ofPerson, ...ofToken }
  const verifies = ({ email, email_verified: isVerified }: Claims) => isVerified === true && email === claims['email']
  const isClaimed = claims['email_verified'] === true
  return isClaimed && ![ofPerson, ofToken].some(verifies) ? { ...claims, email_verified: false } : claims
}

/**
 * returns the claims of the person when the browser comes back from the issuer. Errors: signInRefused,
 * unavailable.
 */
export const finishSignIn = async (provider: Provider, query: string, begun: Begun): Promise<Claims> => {
  const { client, issuer, callback } = provider
  try {
    const configuration = await configure(provider)
    const address = new URL(`${callback}?${query}`)
    const checks = {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      idTokenExpected: true,
    }
    const tokens = await library.authorizationCodeGrant(configuration, address, checks).catch((error: unknown) => {
      throw clientFault(issuer, error)
    })
    const claims = await client.verify(String(tokens.id_token), issuer.url, issuer.clientId)
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    return mergeClaims(await library.fetchUserInfo(configuration, tokens.access_token, String(claims.sub)), claims)
  } catch (error) {
    throw faultIn(error, 'signInRefused')
  }
}

interface IdentityDeps extends Pick<SignInDeps, 'people' | 'clock'> {
  readonly accessValues: KeyedValues
}

interface Arrived {
  readonly trust: Trust
  readonly issuer: Issuer
  readonly claims: Claims
  readonly requestId: string
}

const keyOf = (identity: string) => `identity/${identity}`

const has = (person: Person | undefined, identity: string): person is Person =>
  person?.identities?.includes(identity) ?? false

/** The remembered name may belong to another person now, so this also checks the record of the person. */
const findKnown = async ({ people, accessValues }: IdentityDeps, identity: string): Promise<Person | undefined> => {
  const name = await accessValues.get(keyOf(identity))
  const person = name === undefined ? undefined : await people.get(name)
  return has(person, identity) ? person : undefined
}

// Call this before you store the changed person: a later sign-in finds the person only through this value.
const remember = async ({ accessValues }: IdentityDeps, identity: string, name: string): Promise<void> => {
  if (await accessValues.put(keyOf(identity), name)) return
  await accessValues.take(keyOf(identity))
  await accessValues.put(keyOf(identity), name)
}

const entriesOf = (type: 'user.created' | 'user.changed', person: Person, { issuer, requestId }: Arrived) =>
  personEntries(type, person, { actor: person.name, requestId }, sitesOfPerson(person), { issuer: issuer.id })

const verifiedEmail = (claims: Claims): string | undefined => {
  const { email, email_verified: isVerified } = claims
  return isVerified === true && typeof email === 'string' && isEmail(email) ? email : undefined
}

/**
 * uses up an open invitation, and removes the old password and accounts: somebody else may know or use them.
 * Errors: unavailable, if another change came first, because a rule could add the same person again.
 */
const matchInvited = async (deps: IdentityDeps, arrived: Arrived, identity: string): Promise<Person | undefined> => {
  const email = verifiedEmail(arrived.claims)
  if (email === undefined) return undefined
  const now = deps.clock.wall()
  const [person, ...others] = (await deps.people.listOfEmail(email)).filter((one) => openInvitation(one, now)?.byEmail)
  if (!person || others.length > 0) return undefined
  await remember(deps, identity, person.name)
  const { invitation: _, password: __, ...kept } = person
  const after = { ...withoutSessions(kept, now), identities: [identity] }
  const isStored = await deps.people.replace(person, after, entriesOf('user.changed', person, arrived))
  if (!isStored) throw new ServiceError('unavailable')
  return deps.people.get(person.name)
}

/**
 * The first rule of a site counts. Ignores the user name at the issuer, because another person may have this name
 * here.
 */
const createByRules = async (deps: IdentityDeps, arrived: Arrived, identity: string): Promise<Person | undefined> => {
  const { trust, issuer, claims } = arrived
  const rules = matchingRules(trust, issuer, claims).filter(isForPeople)
  if (rules.length === 0) return undefined
  const sites: Person['sites'] = Object.fromEntries(rules.toReversed().map(({ site, grants }) => [site, grants]))
  const email = verifiedEmail(claims) ?? ''
  for (const name of [email, `${issuer.id}-${identity.slice(0, 16)}`].filter(isPersonName)) {
    const displayName = typeof claims['name'] === 'string' ? inOneLine(claims['name']) : name
    const known = { name, displayName, email, sites }
    const person = { ...newPerson(known, deps.clock.wall()), identities: [identity] }
    await remember(deps, identity, name)
    if (await deps.people.create(person, entriesOf('user.created', person, arrived))) return person
    const other = await deps.people.get(name)
    if (has(other, identity)) return other
  }
  return undefined
}

/**
 * finds or creates the person for the claims of an issuer. Returns undefined if the claims allow no
 * sign-in. Errors: unavailable.
 */
export const findPerson = async (deps: IdentityDeps, arrived: Arrived): Promise<Person | undefined> => {
  const { issuer, claims } = arrived
  const identity = hash('sha256', JSON.stringify([issuer.url, String(claims['sub'])]), 'hex')
  return (
    (await findKnown(deps, identity)) ??
    (await matchInvited(deps, arrived, identity)) ??
    (await createByRules(deps, arrived, identity))
  )
}
