import { hash, randomUUID } from 'node:crypto'
import { decodeJwt, type JWTPayload } from 'jose'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { parseId, type SiteId } from '../../core/ids.ts'
import { textOfRight } from '../../core/rights.ts'
import { type Grants, hashToken, newToken } from '../grants.ts'
import { clockSkew, type IssuerClient, longestToken } from './issuer-client.ts'
import { type Issuer, type Issuers, type KeyedValues, TokenFault, type Trust } from './issuers.ts'
import { type Granted, grantedBy, matchingRules } from './match-rules.ts'

interface ExchangeDeps {
  readonly issuers: Pick<Issuers, 'trust'>
  readonly accessValues: Pick<KeyedValues, 'put'>
  readonly grants: Pick<Grants, 'put'>
  readonly client: Pick<IssuerClient, 'verify'>
  readonly clock: Clock
}

const longestUser = 200

const refusedGrant = (message: string) => new ServiceError('exchangeRefused', { message })

const refusedTarget = (message: string) => new ServiceError('targetRefused', { message })

const issuerOfToken = (trust: Trust, jwt: string): Issuer => {
  let claims: JWTPayload = {}
  try {
    claims = decodeJwt(jwt)
  } catch {
    throw refusedGrant('The subject_token is not a JWT. Send the token of the issuer unchanged.')
  }
  const issuer = trust.issuers.find(({ url }) => url === claims.iss)
  if (issuer) return issuer
  throw refusedGrant('The service does not trust the issuer of this token. Ask an operator to add the issuer.')
}

const siteIn = (resource: string | undefined): SiteId | undefined => {
  if (resource === undefined) return undefined
  const [, digits = ''] = /^(?:https?:\/\/\S+\/sites\/)?(\d+)\/?$/.exec(resource) ?? []
  const site = parseId<SiteId>(digits)
  if (site !== undefined) return site
  throw refusedTarget('The resource names no site. Send the number of a site.')
}

const verifyOnce = async (client: ExchangeDeps['client'], issuer: Issuer, jwt: string): Promise<JWTPayload> => {
  try {
    return await client.verify(jwt, issuer.url, issuer.audience, 'jti')
  } catch (error) {
    if (error instanceof TokenFault) throw refusedGrant(error.message)
    throw error
  }
}

const grantFor = (trust: Trust, issuer: Issuer, claims: JWTPayload, site: SiteId | undefined): Granted => {
  const granted = grantedBy(matchingRules(trust, issuer, claims), site)
  if (granted === 'several')
    throw refusedTarget('Rules of several sites match this token. Send the number of the site as resource.')
  if (granted !== 'none') return granted
  const message = 'No rule matches this token. "site-admin rule list" shows the claims that a token needs.'
  throw site === undefined ? refusedGrant(message) : refusedTarget(message)
}

/** a token works once, even if several requests send it at the same moment. */
const use = async ({ accessValues }: ExchangeDeps, { url }: Issuer, { jti, exp = 0, iat = 0 }: JWTPayload) => {
  const key = `used/${hash('sha256', JSON.stringify([url, jti]), 'hex')}`
  const until = Math.ceil(Math.min(exp, iat + longestToken)) + 2 * clockSkew
  if (!(await accessValues.put(key, randomUUID(), until))) {
    throw refusedGrant('This token was already used. Ask its issuer for a new one.')
  }
}

/**
 * exchanges the token of an issuer for a token of the service. Errors: exchangeRefused, targetRefused,
 * unavailable.
 */
export const exchangeToken = async (deps: ExchangeDeps, jwt: string, resource: string | undefined) => {
  const site = siteIn(resource)
  const trust = await deps.issuers.trust()
  const issuer = issuerOfToken(trust, jwt)
  const claims = await verifyOnce(deps.client, issuer, jwt)
  const granted = grantFor(trust, issuer, claims, site)
  await use(deps, issuer, claims)
  const token = newToken()
  const user = `${issuer.id}:${claims.sub}`
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, longestUser)
    .toWellFormed()
  const expires = Math.floor(deps.clock.wall() / 1000) + granted.ttl
  const permissions = granted.rights.map(textOfRight)
  await deps.grants.put({ hash: hashToken(token), user, sites: [granted.site], permissions, expires }, [])
  return { ...granted, token, user }
}
