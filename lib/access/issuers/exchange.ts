import { hash, randomUUID } from 'node:crypto'
import { decodeJwt, type JWTPayload } from 'jose'
import { ServiceError } from '../../core/errors.ts'
import { parseId, type SiteId } from '../../core/ids.ts'
import { parseRights, simplified, textOfRight } from '../../core/rights.ts'
import { issueGrant } from '../grants.ts'
import type { SignInDeps } from '../sign-in.ts'
import { clockSkew, type IssuerClient, longestToken, refusedGrant } from './issuer-client.ts'
import {
  type Issuer,
  type Issuers,
  inOneLine,
  isForPrograms,
  type KeyedValues,
  matchingRules,
  type ProgramGrant,
  type Rule,
  type Trust,
} from './issuers.ts'

interface ExchangeDeps extends Pick<SignInDeps, 'grants' | 'clock'> {
  readonly issuers: Issuers
  readonly accessValues: KeyedValues
  readonly client: IssuerClient
}

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

/** if several rules of one site match, their rights add up, and the shortest `ttl` (in seconds) counts. */
const grantedBy = (matching: readonly Rule<ProgramGrant>[], resource: SiteId | undefined) => {
  const rules = matching.filter(({ site }) => resource === undefined || site === resource)
  const [first] = rules
  if (!first) {
    const message = 'No rule matches this token. "site-admin rule list" shows the claims that a token needs.'
    throw resource === undefined ? refusedGrant(message) : refusedTarget(message)
  }
  if (rules.some(({ site }) => site !== first.site))
    throw refusedTarget('Rules of several sites match this token. Send the number of the site as resource.')
  const rights = simplified(parseRights(rules.flatMap(({ grants }) => grants.rights)))
  return { site: first.site, rights, ttl: Math.min(...rules.map(({ grants }) => grants.ttl)) }
}

/**
 * a token works once, even if several requests send it at the same moment. Use it up last: until then, a caller
 * can repeat an exchange that gets 503.
 */
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
  const claims = await deps.client.verify(jwt, issuer.url, issuer.audience, 'jti')
  const granted = grantedBy(matchingRules(trust, issuer, claims).filter(isForPrograms), site)
  const user = inOneLine(`${issuer.id}:${claims.sub}`)
  const expires = Math.floor(deps.clock.wall() / 1000) + granted.ttl
  const permissions = granted.rights.map(textOfRight)
  const { token, grant } = await issueGrant(deps.grants, { user, sites: [granted.site], permissions, expires })
  await use(deps, issuer, claims).catch(async (error: unknown) => {
    await deps.grants.remove(grant.hash, [])
    throw error
  })
  return { ...granted, token, user }
}
