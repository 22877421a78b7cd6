import type { ErrorName } from '../core/errors.ts'
import type { Formats } from './format.ts'
import type { Group } from './router.ts'

/** With `alwaysMovedPermanently`, changes are redirected with 301 too. Other groups redirect changes with 308. */
export interface GroupPolicy {
  readonly formats: Formats
  readonly renderingEngine?: true
  readonly tokenInQuery?: true
  readonly alwaysMovedPermanently?: true
  readonly siteUnknown: ErrorName
  readonly rightMissing: ErrorName
  readonly siteAmbiguous: ErrorName
}

const usualErrors = {
  siteUnknown: 'siteUnknown',
  siteAmbiguous: 'siteAmbiguous',
  rightMissing: 'rightMissing',
} as const

export const groupPolicies: Readonly<Record<Group, GroupPolicy>> = {
  fields: { formats: ['json', 'xml'], ...usualErrors },
  categories: { formats: ['json'], renderingEngine: true, ...usualErrors },
  storage: {
    formats: ['json'],
    tokenInQuery: true,
    alwaysMovedPermanently: true,
    siteUnknown: 'siteUnauthorized',
    siteAmbiguous: 'loginAmbiguous',
    rightMissing: 'privilegesMissing',
  },
  documentation: { formats: ['json'], ...usualErrors },
  access: { formats: ['json'], ...usualErrors },
  webhooks: { formats: ['json'], ...usualErrors },
}
