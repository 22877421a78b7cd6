import type { ErrorName } from '../core/errors.ts'
import type { Format } from './negotiate.ts'
import type { Group } from './router.ts'

/** What the areas of the contract do differently at the edge (decisions.md, sections 1 and 2), as data. */
export interface GroupPolicy {
  /** What the answers come in; the first one is the default. With one format only, `Accept` is not looked at. */
  readonly formats: readonly [Format, ...Format[]]
  readonly renderingEngine?: true
  /** Whether the login token may come in the query as well. */
  readonly tokenInQuery?: true
  /** Whether every method is sent to another data centre with 301; otherwise those that change something get 308. */
  readonly alwaysMovedPermanently?: true
  readonly siteUnknown: ErrorName
  readonly siteAmbiguous: ErrorName
}

export const groupPolicies: Readonly<Record<Group, GroupPolicy>> = {
  fields: { formats: ['json', 'xml'], siteUnknown: 'siteUnknown', siteAmbiguous: 'siteAmbiguous' },
  categories: {
    formats: ['json'],
    renderingEngine: true,
    siteUnknown: 'siteUnknown',
    siteAmbiguous: 'siteAmbiguous',
  },
  storage: {
    formats: ['json'],
    tokenInQuery: true,
    alwaysMovedPermanently: true,
    siteUnknown: 'siteUnauthorized',
    siteAmbiguous: 'loginAmbiguous',
  },
  documentation: { formats: ['json'], siteUnknown: 'siteUnknown', siteAmbiguous: 'siteAmbiguous' },
}
