import type { Provoked } from '../functions/operation-doc.ts'
import type { routes } from '../functions/routes.ts'
import type { ErrorName } from '../lib/errors.ts'
import { stage } from './stage.ts'

type Operation = (typeof routes)[number]['operation']

/** A byte that is no UTF-8. */
const undecodable = '%FF'

/** What the checks on the way to any operation answer, provoked at one of each group that has the error. */
export const sharedErrors: Readonly<Partial<Record<Operation, Provoked>>> = {
  listFields: {
    routeUnknown: { path: { webForm: undecodable } },
    methodNotAllowed: { method: 'PATCH' },
    tokenRejected: { caller: 'nobody' },
    siteUnknown: { path: { site: stage.unknownSite } },
    siteAmbiguous: { caller: 'of two sites' },
    notAcceptable: { headers: { Accept: 'image/png' } },
    unexpected: { path: { site: stage.otherSite, webForm: stage.damagedForm }, caller: 'of two sites' },
    unavailable: { at: 'hampered' },
  },
  listCategories: {
    renderingEngineOff: { path: { site: stage.otherSite }, caller: 'of two sites' },
  },
  readRoot: {
    siteUnauthorized: { path: { site: stage.unknownSite } },
    loginAmbiguous: { caller: 'of two sites' },
    privilegesMissing: { caller: 'without permission' },
  },
}

/**
 * The errors that no request to the service provokes: their examples are written by the service's own renderer.
 * 429 is the gateway's alone, from a template (cdk/constructs/gateway-responses.ts) that test/cdk holds against the error table.
 */
export const notProvoked = ['tooManyRequests'] as const satisfies readonly ErrorName[]

/** Who accepts neither JSON nor XML is told so in JSON. */
export const inJsonOnly: readonly ErrorName[] = ['notAcceptable']
