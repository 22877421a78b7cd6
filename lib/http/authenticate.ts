import type { MiddlewareObj } from '@middy/core'
import { type Grant, hashToken, isCurrent } from '../access/token.ts'
import { ServiceError } from '../errors.ts'
import { type Exchange, settled } from './exchange.ts'
import { groupPolicies } from './group-policy.ts'
import type { Reply } from './reply.ts'

export interface AccessDeps {
  /** The grant of a token, by the token's hash. */
  readonly findGrant: (hash: string) => Promise<Grant | undefined>
  readonly now: () => number
}

/** What the service issues; anything else need not be looked up. */
const tokenShape = /^[0-9a-f]{64}$/

const tokenOf = ({ headers, query }: Exchange, inQuery: boolean): string | undefined => {
  const header = headers['authorization']?.trim().replace(/^Bearer\s+/i, '')
  if (header) return header
  return inQuery ? query.get('access_token')?.[0] || query.get('status')?.[0] : undefined
}

/** Finds out who calls (decisions.md, section 1). Errors: tokenRejected. */
export const authenticate = ({ findGrant, now }: AccessDeps): MiddlewareObj<Exchange, Reply> => ({
  async before({ event: exchange }) {
    const route = settled(exchange.route, 'the route')
    if (route.public) return
    const token = tokenOf(exchange, groupPolicies[route.group].tokenInQuery ?? false)
    const grant = token !== undefined && tokenShape.test(token) ? await findGrant(hashToken(token)) : undefined
    if (!grant || !isCurrent(grant, now())) {
      throw new ServiceError('tokenRejected', { headers: { 'WWW-Authenticate': 'Bearer' } })
    }
    exchange.caller = grant
  },
})
