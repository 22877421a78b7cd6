import type { SiteId } from '../../core/ids.ts'
import { parseRights, type Right, simplified } from '../../core/rights.ts'
import { type Issuer, isForPeople, isForPrograms, type PersonGrant, type Rule, type Trust } from './issuers.ts'

export type Claims = Readonly<Record<string, unknown>>

const isRounded = (claim: unknown): boolean => typeof claim === 'number' && !Number.isSafeInteger(claim)

const isValue = (claim: unknown, value: string): boolean =>
  ['string', 'number', 'boolean'].includes(typeof claim) && !isRounded(claim) && String(claim) === value

const hasClaim = (claims: Claims, name: string, value: string): boolean => {
  const claim = Object.hasOwn(claims, name) ? claims[name] : undefined
  return Array.isArray(claim) ? claim.some((one) => isValue(one, value)) : isValue(claim, value)
}

export const matchingRules = ({ rules }: Trust, { id }: Issuer, claims: Claims): readonly Rule[] =>
  rules.filter(
    (rule) => rule.issuer === id && Object.entries(rule.claims).every(([name, value]) => hasClaim(claims, name, value)),
  )

export interface Granted {
  readonly site: SiteId
  readonly rights: readonly Right[]
  readonly ttl: number
}

/** if several rules of one site match, their rights add up, and the shortest `ttl` (in seconds) counts. */
export const grantedBy = (matched: readonly Rule[], resource: SiteId | undefined): Granted | 'none' | 'several' => {
  const rules = matched.filter(isForPrograms).filter(({ site }) => resource === undefined || site === resource)
  const [first] = rules
  if (!first) return 'none'
  if (rules.some(({ site }) => site !== first.site)) return 'several'
  return {
    site: first.site,
    rights: simplified(parseRights(rules.flatMap(({ grants }) => grants.rights))),
    ttl: Math.min(...rules.map(({ grants }) => grants.ttl)),
  }
}

/** the roles that the rules give to a person: one role per site. */
export const rolesIn = (matched: readonly Rule[]): Readonly<Record<SiteId, PersonGrant>> =>
  Object.fromEntries(
    matched
      .filter(isForPeople)
      .toReversed()
      .map(({ site, grants: { role } }) => [site, { role }]),
  )
