import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '../../core/errors.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { RoleName } from '../people.ts'

/** `url` is the claim `iss` in the issuer's tokens. People can sign in only with a `clientId`. */
export interface Issuer {
  readonly id: string
  readonly url: string
  readonly audience: string
  readonly clientId?: string
}

export type IssuerOfPeople = Issuer & Required<Pick<Issuer, 'clientId'>>

/** programs get rights for `ttl` seconds, and people get a role. */
export interface ProgramGrant {
  readonly rights: readonly string[]
  readonly ttl: number
}

export interface PersonGrant {
  readonly role: RoleName
}

export interface Rule<Granted = ProgramGrant | PersonGrant> {
  readonly id: string
  readonly issuer: string
  readonly claims: Readonly<Record<string, string>>
  readonly site: SiteId
  readonly grants: Granted
}

export interface Trust {
  readonly issuers: readonly Issuer[]
  readonly rules: readonly Rule[]
}

export const noTrust: Trust = { issuers: [], rules: [] }

/**
 * The port to all issuers and rules, which are few and change rarely. `change` computes the next state from the current
 * state. If `change` throws, nothing is stored, and the caller gets the error. Errors of every call: unavailable.
 */
export interface Issuers {
  trust(): Promise<Trust>
  changeTrust(change: (trust: Trust) => Trust, entries: readonly HistoryEntry[]): Promise<void>
}

/**
 * The port to small values, such as the codes of sign-ins and the used tokens of issuers. A value with `expires` (epoch
 * seconds) expires; others stay. `put` returns false if the key already has another value. `take` removes the value and
 * returns it, so only one caller gets it. Errors of every call: unavailable.
 */
export interface KeyedValues {
  get(key: string): Promise<string | undefined>
  put(key: string, value: string, expires?: number): Promise<boolean>
  take(key: string): Promise<string | undefined>
}

const refuse = (message: string) => new ServiceError('accessMalformed', { message })

const mostClaims = 10
export const longestGrant = 3600

// In bytes of JSON. With this limit, all issuers and rules fit into one item of DynamoDB.
const mostTrust = 150_000

const requireFitting = (trust: Trust): Trust => {
  if (Buffer.byteLength(JSON.stringify(trust)) <= mostTrust) return trust
  throw refuse(
    'There are too many issuers and rules. Remove those that you no longer need: "rule list" lists the rules.',
  )
}

export const isPlainText = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text)

export const isTrustedAddress = ({ protocol, hostname }: URL, isOnThisMachine: boolean): boolean =>
  protocol === 'https:' || (isOnThisMachine && protocol === 'http:' && hostname === '127.0.0.1')

export const isIssuerUrl = (text: string): boolean => {
  const url = URL.parse(text)
  const isBare = url !== null && url.username + url.password === '' && !/[?#]/.test(text)
  return isBare && isPlainText(text) && isTrustedAddress(url, true)
}

const claimsOfEveryToken = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'])

// Clients of DynamoDB lose a member with the name "__proto__", and the rule would then match more tokens.
export const parseClaim = (text: string): readonly [name: string, value: string] | undefined => {
  const [, name = '', value] = /^(?!__proto__=)([\w.:/-]{1,100})=(\P{Cc}{1,255})$/u.exec(text) ?? []
  return value === undefined || claimsOfEveryToken.has(name) ? undefined : [name, value]
}

export const addIssuer = ({ issuers, rules }: Trust, issuer: Issuer): Trust => {
  const taken = issuers.find(({ id, url }) => id === issuer.id || url === issuer.url)
  if (taken) {
    throw refuse(`The issuer ${taken.id} (${taken.url}) already exists. Remove it first, or choose another id and URL.`)
  }
  return requireFitting({ issuers: [...issuers, issuer], rules })
}

const withId = <Thing extends Issuer | Rule>(kind: 'issuer' | 'rule', things: readonly Thing[], id: string): Thing => {
  const found = things.find((thing) => thing.id === id)
  if (!found) throw refuse(`The ${kind} ${id} does not exist. "${kind} list" lists all ${kind}s.`)
  return found
}

export const issuerOf = ({ issuers }: Trust, id: string): Issuer => withId('issuer', issuers, id)

export const ruleOf = ({ rules }: Trust, id: string): Rule => withId('rule', rules, id)

export const removeIssuer = (trust: Trust, id: string): Trust => {
  const removed = issuerOf(trust, id)
  return {
    issuers: trust.issuers.filter((issuer) => issuer !== removed),
    rules: trust.rules.filter(({ issuer }) => issuer !== id),
  }
}

export const isForPrograms = (rule: Rule): rule is Rule<ProgramGrant> => 'rights' in rule.grants

export const isForPeople = (rule: Rule): rule is Rule<PersonGrant> => 'role' in rule.grants

export const addRule = (trust: Trust, rule: Rule): Trust => {
  const issuer = issuerOf(trust, rule.issuer)
  const count = Object.keys(rule.claims).length
  if (count === 0 || count > mostClaims) throw refuse(`A rule needs 1 to ${mostClaims} claims. Add them with --claim.`)
  if (isForPeople(rule) && issuer.clientId === undefined) {
    throw refuse(
      `People cannot sign in through ${issuer.id}, because this issuer has no client id. Remove the issuer, and ` +
        'add it again with --client-id.',
    )
  }
  const same = trust.rules.find((other) => isDeepStrictEqual({ ...other, id: rule.id }, rule))
  if (same) throw refuse(`The rule ${same.id} already says the same. "rule list" lists all rules.`)
  return requireFitting({ ...trust, rules: [...trust.rules, rule] })
}

export const removeRule = (trust: Trust, id: string): Trust => {
  const removed = ruleOf(trust, id)
  return { ...trust, rules: trust.rules.filter((rule) => rule !== removed) }
}

export const withoutRulesOf = (trust: Trust, site: SiteId): Trust => ({
  ...trust,
  rules: trust.rules.filter((rule) => rule.site !== site),
})

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

const longestText = 200

export const inOneLine = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, longestText)
    .toWellFormed()
