import type { ErrorName } from '../lib/errors.ts'
import type { GroupPolicy } from '../lib/http/group-policy.ts'
import type { Route } from '../lib/http/router.ts'

/**
 * What the checks on the way to an operation answer (decisions.md, section 1), in their order; the group's policy says which
 * of them it has. A path whose variables cannot be decoded is no route.
 */
export const edgeErrors = (route: Route, policy: GroupPolicy, hasDocument: boolean): readonly ErrorName[] => [
  ...(route.path.includes('{') ? (['routeUnknown'] as const) : []),
  'methodNotAllowed',
  ...(route.public ? [] : siteErrors(policy)),
  ...(!route.public && policy.formats.length > 1 ? (['notAcceptable'] as const) : []),
  ...(hasDocument ? (['mediaTypeUnsupported', 'bodyTooLarge'] as const) : []),
  'tooManyRequests',
  'unexpected',
  'unavailable',
]

const siteErrors = ({ siteUnknown, siteAmbiguous, permission, renderingEngine }: GroupPolicy): ErrorName[] => [
  'tokenRejected',
  siteUnknown,
  siteAmbiguous,
  ...(permission ? (['privilegesMissing'] as const) : []),
  ...(renderingEngine ? (['renderingEngineOff'] as const) : []),
]
