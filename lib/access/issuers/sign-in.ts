import * as library from 'openid-client'
import { type ErrorName, errors, ServiceError } from '../../core/errors.ts'
import { clockSkew, type IssuerClient } from './issuer-client.ts'
import { type Claims, type IssuerOfPeople, isTrustedAddress } from './issuers.ts'

/** The browser keeps this between the two requests of a sign-in. */
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
    const tokens = await library.authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      idTokenExpected: true,
    })
    const claims = await client.verify(String(tokens.id_token), issuer.url, issuer.clientId)
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    return mergeClaims(await library.fetchUserInfo(configuration, tokens.access_token, String(claims.sub)), claims)
  } catch (error) {
    throw faultIn(error, 'signInRefused')
  }
}
