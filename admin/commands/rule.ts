import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import {
  addRule,
  isForPrograms,
  longestGrant,
  parseClaim,
  type Rule,
  removeRule,
  ruleOf,
} from '../../lib/access/issuers/issuers.ts'
import { type RoleName, roles } from '../../lib/access/people.ts'
import type { ChangeType, HistoryEntry } from '../../lib/core/history-entry.ts'
import { type Right, simplified, textOfRight } from '../../lib/core/rights.ts'
import { type AdminStores, entryOf } from '../stores/admin-stores.ts'
import { type GlobalOptions, onStores, siteOf } from '../stores/stores.ts'
import {
  collect,
  commandOf,
  groupOf,
  lifetimeOption,
  type OfSite,
  parsePlainId,
  parserOf,
  parseSiteId,
  rightOption,
  siteCommandOf,
  spanUpTo,
} from '../terminal/arguments.ts'
import { print, Refusal } from '../terminal/output.ts'

interface AddOptions extends OfSite {
  readonly issuer: string
  readonly claim: readonly (readonly [name: string, value: string])[]
  readonly right: readonly Right[]
  readonly ttl: number
  readonly role?: RoleName
}

const parseRuleClaim = parserOf(
  parseClaim,
  'It must look like repository=acme/site. A rule cannot use the claims iss, aud, exp, iat, nbf, jti and __proto__.',
)

const parseLifetime = spanUpTo(longestGrant, 'It must be a duration such as 15m, and at most an hour.')

// The roles that need folders are missing, because a rule has no folders.
const rolesOfRules = (Object.keys(roles) as RoleName[]).filter((name) => !roles[name].isPerFolder)

const grantsOf = ({ right, ttl, role }: AddOptions): Rule['grants'] => {
  if ((role === undefined) === (right.length === 0)) {
    throw new Refusal('Give --right for programs, or --role for people, but not both.')
  }
  if (role !== undefined) return { role }
  return { rights: simplified(right).map(textOfRight), ttl }
}

const view = ({ grants, ...rule }: Rule) => ({ ...rule, ...grants })

const entryOfRule = (type: ChangeType, rule: Rule): HistoryEntry =>
  entryOf(type, rule.site, `rule/${rule.id}`, {
    issuer: rule.issuer,
    claims: Object.entries(rule.claims).map(([name, value]) => `${name}=${value}`),
    ...(isForPrograms(rule) ? { rights: rule.grants.rights } : rule.grants),
  })

const add = async (stores: AdminStores, options: AddOptions) => {
  const { issuer, claim, site } = options
  await siteOf(stores, site)
  const claims = Object.fromEntries(claim)
  if (Object.keys(claims).length < claim.length)
    throw new Refusal('Give each claim only once: a token must have all claims of a rule.')
  const rule: Rule = { id: randomBytes(4).toString('hex'), issuer, claims, site, grants: grantsOf(options) }
  await stores.issuers.changeTrust((trust) => addRule(trust, rule), [entryOfRule('rule.created', rule)])
  return view(rule)
}

const list = async (stores: AdminStores, { site }: Partial<OfSite>) => {
  if (site !== undefined) await siteOf(stores, site)
  const { rules } = await stores.issuers.trust()
  return rules.filter((rule) => site === undefined || rule.site === site).map(view)
}

const remove = async ({ issuers }: AdminStores, id: string) => {
  const rule = ruleOf(await issuers.trust(), id)
  await issuers.changeTrust((trust) => removeRule(trust, id), [entryOfRule('rule.removed', rule)])
  return { removed: true }
}

const roleDescription = 'the role for people who sign in; the first sign-in adds the person'
const roleOption = new Option('--role <role>', roleDescription).choices(rolesOfRules)

const addExamples = [
  'rule add --issuer github --claim repository=acme/site --claim ref=refs/heads/main --site 1001 --right files:write',
  'rule add --issuer work --claim groups=web --site 1001 --role editor',
]

export const ruleCommand = (): Command =>
  groupOf('rule', 'rights for tokens of other issuers', 'rule list', [
    siteCommandOf('add', 'accept tokens with certain claims; a token must have all claims of a rule', ...addExamples)
      .requiredOption('--issuer <id>', 'the issuer of the tokens', parsePlainId)
      .requiredOption('--claim <name=value>', 'a claim of the token (repeatable)', collect(parseRuleClaim))
      .addOption(rightOption('a right of programs').default([]))
      .addOption(lifetimeOption('the lifetime of tokens for programs', '15m', parseLifetime))
      .addOption(roleOption)
      .action(onStores(add)),
    commandOf('list', 'list all rules', 'rule list', 'rule list --site 1001')
      .option('--site <id>', 'only the rules of this site', parseSiteId)
      .action(onStores(list)),
    commandOf(
      'remove',
      'remove a rule; tokens that programs got by this rule expire within an hour',
      'rule remove 5f2c81d0',
    )
      .argument('<id>', 'the id of the rule, from the list')
      .action(onStores(remove)),
  ])

const listRoles = (_options: object, self: Command): Promise<void> => {
  const rows = Object.entries(roles).map(([role, { rights, isPerFolder }]) => ({
    role,
    rights: rights.map(textOfRight),
    perFolder: isPerFolder,
  }))
  return print(rows, self.optsWithGlobals<GlobalOptions>().json)
}

export const roleCommand = (): Command =>
  groupOf('role', 'named sets of rights', 'role list', [
    commandOf('list', 'list the roles, with their rights', 'role list').action(listRoles),
  ])
