import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import {
  addIssuer,
  addRule,
  type Issuer,
  isForPrograms,
  isIssuerUrl,
  isPlainText,
  issuerOf,
  longestGrant,
  parseClaim,
  type Rule,
  removeIssuer,
  removeRule,
  ruleOf,
} from '../../lib/access/issuers/issuers.ts'
import { type RoleName, roleNames, roles } from '../../lib/access/people.ts'
import type { ChangeType, HistoryEntry } from '../../lib/core/history-entry.ts'
import { type Right, simplified, textOfRight } from '../../lib/core/rights.ts'
import { parserIf, parserOf } from '../../local/flags.ts'
import { type AdminStores, entryOf } from '../stores/admin-stores.ts'
import { type GlobalOptions, onStores, siteOf } from '../stores/stores.ts'
import {
  collect,
  commandOf,
  groupOf,
  lifetimeOption,
  type OfSite,
  parsePlainId,
  parseSiteId,
  rightOption,
  siteCommandOf,
  spanUpTo,
} from '../terminal/arguments.ts'
import { print, Refusal } from '../terminal/output.ts'

const parseIssuerUrl = parserIf(
  isIssuerUrl,
  'It must be an https URL without a query, exactly as in the claim iss of its tokens. Only 127.0.0.1 may use http.',
)
const parsePlainText = parserIf(isPlainText, 'It must be 1 to 255 ASCII characters without spaces.')

// People of every site may sign in through an issuer, so each site gets an entry.
const entriesOf = async ({ sites }: AdminStores, type: ChangeType, { id, url }: Issuer): Promise<HistoryEntry[]> =>
  (await sites.list()).sites.map((site) => entryOf(type, site.id, `issuer/${id}`, { url }))

const trustIssuer = async (stores: AdminStores, url: string, options: Omit<Issuer, 'url'>) => {
  const { id, audience, clientId } = options
  const issuer: Issuer = { id, url, audience, ...(clientId !== undefined && { clientId }) }
  const entries = await entriesOf(stores, 'issuer.created', issuer)
  await stores.issuers.changeTrust((trust) => addIssuer(trust, issuer), entries)
  return issuer
}

const listIssuers = async ({ issuers }: AdminStores) =>
  (await issuers.trust()).issuers.map(({ id, url, audience, clientId = null }) => ({ id, url, audience, clientId }))

const distrustIssuer = async (stores: AdminStores, id: string) => {
  const trust = await stores.issuers.trust()
  const entries = await entriesOf(stores, 'issuer.removed', issuerOf(trust, id))
  const rules = trust.rules.filter((rule) => rule.issuer === id)
  const ofRules = rules.map((rule) => entryOf('rule.removed', rule.site, `rule/${rule.id}`, { issuer: id }))
  await stores.issuers.changeTrust((present) => removeIssuer(present, id), [...ofRules, ...entries])
  return { removed: true, rules: rules.length }
}

const issuerExamples = [
  'https://token.actions.githubusercontent.com --id github --audience https://admin.example.com',
  'https://login.example.com --id work --audience https://admin.example.com --client-id site-admin',
]

export const issuerCommand = (): Command =>
  groupOf('issuer', 'identity providers whose tokens the service accepts', 'list', [
    commandOf('add', 'trust an OpenID Connect issuer; then give its tokens rights with "rule add"', ...issuerExamples)
      .argument('<url>', 'the URL of the issuer, exactly as in the claim iss of its tokens', parseIssuerUrl)
      .requiredOption('--id <id>', 'a short name for the issuer, used in URLs and in other commands', parsePlainId)
      .requiredOption('--audience <audience>', 'the claim aud that tokens of programs must have', parsePlainText)
      .option('--client-id <id>', 'the id of this service at the issuer, so that people can sign in', parsePlainText)
      .action(onStores(trustIssuer)),
    commandOf('list', 'list all issuers').action(onStores(listIssuers)),
    commandOf('remove', 'remove an issuer with its rules; tokens of its programs expire within an hour', 'github')
      .argument('<id>', 'the id of the issuer', parsePlainId)
      .action(onStores(distrustIssuer)),
  ])

interface RuleOptions extends OfSite {
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
const rolesOfRules = roleNames.filter((name) => !roles[name].isPerFolder)

const viewOfRule = ({ grants, ...rule }: Rule) => ({ ...rule, ...grants })

const entryOfRule = (type: ChangeType, rule: Rule): HistoryEntry =>
  entryOf(type, rule.site, `rule/${rule.id}`, {
    issuer: rule.issuer,
    claims: Object.entries(rule.claims).map(([name, value]) => `${name}=${value}`),
    ...(isForPrograms(rule) ? { rights: rule.grants.rights } : rule.grants),
  })

const createRule = async (stores: AdminStores, { issuer, claim, site, right, ttl, role }: RuleOptions) => {
  await siteOf(stores, site)
  const claims = Object.fromEntries(claim)
  if (Object.keys(claims).length < claim.length)
    throw new Refusal('Give each claim only once: a token must have all claims of a rule.')
  if ((role === undefined) === (right.length === 0))
    throw new Refusal('Give --right for programs, or --role for people, but not both.')
  const grants = role === undefined ? { rights: simplified(right).map(textOfRight), ttl } : { role }
  const rule: Rule = { id: randomBytes(4).toString('hex'), issuer, claims, site, grants }
  await stores.issuers.changeTrust((trust) => addRule(trust, rule), [entryOfRule('rule.created', rule)])
  return viewOfRule(rule)
}

const listRules = async (stores: AdminStores, { site }: Partial<OfSite>) => {
  if (site !== undefined) await siteOf(stores, site)
  const { rules } = await stores.issuers.trust()
  return rules.filter((rule) => site === undefined || rule.site === site).map(viewOfRule)
}

const endRule = async ({ issuers }: AdminStores, id: string) => {
  const rule = ruleOf(await issuers.trust(), id)
  await issuers.changeTrust((trust) => removeRule(trust, id), [entryOfRule('rule.removed', rule)])
  return { removed: true }
}

const roleDescription = 'the role for people who sign in; the first sign-in adds the person'
const roleOption = new Option('--role <role>', roleDescription).choices(rolesOfRules).conflicts('ttl')

const ruleExamples = [
  '--issuer github --claim repository=acme/site --claim ref=refs/heads/main --site 1001 --right files:write',
  '--issuer work --claim groups=web --site 1001 --role editor',
]

export const ruleCommand = (): Command =>
  groupOf('rule', 'rights for tokens of other issuers', 'list', [
    siteCommandOf('add', 'accept tokens with certain claims; a token must have all claims of a rule', ...ruleExamples)
      .requiredOption('--issuer <id>', 'the issuer of the tokens', parsePlainId)
      .requiredOption('--claim <name=value>', 'a claim of the token (repeatable)', collect(parseRuleClaim))
      .addOption(rightOption('a right of programs').default([]))
      .addOption(lifetimeOption('the lifetime of tokens for programs', '15m', parseLifetime))
      .addOption(roleOption)
      .action(onStores(createRule)),
    commandOf('list', 'list all rules', '', '--site 1001')
      .option('--site <id>', 'only the rules of this site', parseSiteId)
      .action(onStores(listRules)),
    commandOf('remove', 'remove a rule; tokens that programs got by this rule expire within an hour', '5f2c81d0')
      .argument('<id>', 'the id of the rule, from the list')
      .action(onStores(endRule)),
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
  groupOf('role', 'named sets of rights', 'list', [
    commandOf('list', 'list the roles, with their rights').action(listRoles),
  ])
