import type { Issuer, Rule, Trust } from './issuers.ts'

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
