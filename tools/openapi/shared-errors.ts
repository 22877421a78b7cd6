import type { Provoked } from '../../lib/contract/contract.ts'
import type { routes } from '../../lib/contract/routes/routes.ts'
import type { ErrorName } from '../../lib/core/errors.ts'
import type { GroupPolicy } from '../../lib/http/group-policy.ts'
import { isOfSite, type Route } from '../../lib/http/router.ts'
import { damagedForm, exampleSites } from './example-service.ts'

type Operation = (typeof routes)[number]['operation']

const siteErrors = (
  { permission }: Route,
  { siteUnknown, siteAmbiguous, renderingEngine }: GroupPolicy,
): ErrorName[] => [
  'tokenRejected',
  siteUnknown,
  siteAmbiguous,
  ...(permission ? (['privilegesMissing'] as const) : []),
  ...(renderingEngine ? (['renderingEngineOff'] as const) : []),
]

/**
 * What the checks on the way to an operation answer (decisions.md, section 1), in their order; the route and the group's policy say
 * which of them it has. A path whose variables cannot be decoded is no route.
 */
export const edgeErrors = (route: Route, policy: GroupPolicy, hasDocument: boolean): readonly ErrorName[] => [
  ...(route.path.includes('{') ? (['routeUnknown'] as const) : []),
  'methodNotAllowed',
  ...(route.public ? [] : isOfSite(route) ? siteErrors(route, policy) : (['tokenRejected'] as const)),
  ...(!route.public && policy.formats.length > 1 ? (['notAcceptable'] as const) : []),
  ...(hasDocument ? (['mediaTypeUnsupported', 'bodyTooLarge'] as const) : []),
  'tooManyRequests',
  'unexpected',
  'unavailable',
]

/** A byte that is no UTF-8. */
const undecodable = '%FF'

/** What the checks on the way to any operation answer, provoked at one of each group that has the error. */
export const sharedErrors: Readonly<Partial<Record<Operation, Provoked>>> = {
  listFields: {
    routeUnknown: { path: { webForm: undecodable } },
    methodNotAllowed: { method: 'PATCH' },
    tokenRejected: { caller: 'nobody' },
    siteUnknown: { path: { site: exampleSites.unknown } },
    siteAmbiguous: { caller: 'of two sites' },
    notAcceptable: { headers: { Accept: 'image/png' } },
    unexpected: { path: { site: exampleSites.other, webForm: damagedForm }, caller: 'of two sites' },
    unavailable: { at: 'hampered' },
  },
  listCategories: {
    renderingEngineOff: { path: { site: exampleSites.other }, caller: 'of two sites' },
  },
  readRoot: {
    siteUnauthorized: { path: { site: exampleSites.unknown } },
    loginAmbiguous: { caller: 'of two sites' },
    privilegesMissing: { caller: 'without permission' },
  },
}

/**
 * The errors that no request to the service provokes: their examples are written by the service's own renderer.
 * 423 takes another request that is still going on.
 * 429 is the gateway's alone, from a template (cdk/constructs/gateway.ts) that test/cdk holds against the error table.
 */
export const notProvoked = ['tooManyRequests', 'appendGoing'] as const satisfies readonly ErrorName[]

/** Who accepts neither JSON nor XML is told so in JSON. */
export const inJsonOnly: readonly ErrorName[] = ['notAcceptable']
