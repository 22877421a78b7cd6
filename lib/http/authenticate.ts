import { type Grant, hashToken, isCurrent } from '../access/token.ts'
import type { Clock } from '../clock.ts'
import { ServiceError } from '../errors.ts'
import type { GroupPolicy } from './group-policy.ts'
import type { Request } from './request.ts'

export interface AccessDeps {
  /** The grant of a token, by the token's hash. */
  readonly findGrant: (hash: string) => Promise<Grant | undefined>
  readonly clock: Clock
}

/** What the service issues; anything else need not be looked up. */
const tokenShape = /^[0-9a-f]{64}$/

const tokenOf = ({ headers, query }: Request, inQuery: boolean): string | undefined => {
  const header = headers['authorization']?.trim().replace(/^Bearer\s+/i, '')
  if (header) return header
  return inQuery ? query.get('access_token')?.[0] || query.get('status')?.[0] : undefined
}

/** Finds out who calls (decisions.md, section 1). Errors: tokenRejected. */
export const findCaller = async (
  { findGrant, clock }: AccessDeps,
  request: Request,
  { tokenInQuery }: GroupPolicy,
): Promise<Grant> => {
  const token = tokenOf(request, tokenInQuery ?? false)
  const grant = token !== undefined && tokenShape.test(token) ? await findGrant(hashToken(token)) : undefined
  if (!grant || !isCurrent(grant, clock.wall())) {
    throw new ServiceError('tokenRejected', { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
  return grant
}
