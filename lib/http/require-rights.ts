import type { MiddlewareObj } from '@middy/core'
import { ServiceError } from '../errors.ts'
import { type Exchange, settled } from './exchange.ts'
import { groupPolicies } from './group-policy.ts'
import type { Reply } from './reply.ts'

/** Checks the permission and the rendering engine that the group needs. Errors: privilegesMissing, renderingEngineOff. */
export const requireRights: MiddlewareObj<Exchange, Reply> = {
  before({ event: exchange }) {
    const route = settled(exchange.route, 'the route')
    if (route.public) return
    const { permission, renderingEngine } = groupPolicies[route.group]
    if (permission && !settled(exchange.caller, 'the caller').permissions.includes(permission)) {
      throw new ServiceError('privilegesMissing')
    }
    if (renderingEngine && !settled(exchange.site, 'the site').renderingEngine) {
      throw new ServiceError('renderingEngineOff')
    }
  },
}
