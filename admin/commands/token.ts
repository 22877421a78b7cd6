import { type Command, Option } from 'commander'
import {
  grantEntries,
  isCurrent,
  issueGrant,
  kindOf,
  type Permission,
  permissions,
  permissionsOf,
  rightsOfToken,
} from '../../lib/access/grants.ts'
import { currentKeys, describeKeys, issueKey } from '../../lib/access/keys.ts'
import { rightsOfEntry } from '../../lib/access/people.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { includesRight, type Right, rightOf, simplified, textOfRight } from '../../lib/core/rights.ts'
import { inIso } from '../../lib/core/time.ts'
import { type AdminStores, administrator, findGrant, personOf, revokeGrant } from '../stores/admin-stores.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import {
  collect,
  commandOf,
  groupOf,
  lifetimeOption,
  type OfSite,
  parseName,
  parseSiteId,
  rightOption,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { printOnce, Refusal } from '../terminal/output.ts'

interface IssueOptions {
  readonly user: string
  readonly site: readonly SiteId[]
  readonly permission: readonly Permission[]
  readonly right: readonly Right[]
  readonly ttl: number
}

// A token without `--right` is stored in the old form.
const permissionsIn = ({ permission, right }: Pick<IssueOptions, 'permission' | 'right'>): readonly string[] => {
  if (right.length === 0) return [...new Set(permission)]
  const rights = simplified([...(permission.includes('files') ? [rightOf('files:write')] : []), ...right])
  return rights.map(textOfRight)
}

const revokeToken = (stores: AdminStores, text: string) => revokeGrant(stores, 'token', text)

const issueToken = async (stores: AdminStores, { user, site, ttl, ...given }: IssueOptions, self: Command) => {
  await Promise.all(site.map((id) => siteOf(stores, id)))
  const expires = Math.floor(Date.now() / 1000) + ttl
  const granted = { user, sites: [...new Set(site)], permissions: permissionsIn(given), expires }
  const { token, grant } = await issueGrant(stores.grants, granted, administrator)
  return printOnce(self, 'token', grant.hash, { token, expires: inIso(expires) }, () => revokeToken(stores, token))
}

const listTokens = async (stores: AdminStores, { site }: Partial<OfSite>) => {
  if (site !== undefined) await siteOf(stores, site)
  const tokens = (await stores.grants.list()).filter((one) => kindOf(one) === 'token' && isCurrent(one, Date.now()))
  const covering = tokens.filter(({ sites }) => site === undefined || sites.includes(site))
  return covering.map((token) => {
    const { hash, user, sites } = token
    const [rights, expires] = [rightsOfToken(token), inIso(token.expires)]
    return { hash, user, sites, permissions: permissionsOf(rights), rights: rights.map(textOfRight), expires }
  })
}

const tokenExamples = [
  '--user ann --site 1001 --permission files --ttl 4h',
  '--user press --site 1001 --right files:write:/news --right history:read',
]

const permissionOption = () =>
  new Option('--permission <permission...>', 'a permission: files equals the right files:write (repeatable)')
    .choices(permissions)
    .default([], 'none')

export const tokenCommand = (): Command =>
  groupOf('token', 'access tokens', 'list', [
    commandOf('issue', 'issue a token, and print it once', ...tokenExamples)
      .requiredOption('--user <name>', 'the name of the user of the token', parseName)
      .requiredOption('--site <id>', 'a site that the token covers (repeatable)', collect(parseSiteId))
      .addOption(permissionOption())
      .addOption(rightOption('a right in place of the default rights').default([]))
      .addOption(lifetimeOption('how long the token works, such as 30m, 4h, 3d or 2w', '2w'))
      .action(onStores(issueToken)),
    commandOf('list', 'list the tokens by their hash', '--site 1001')
      .option('--site <id>', 'only tokens that cover this site', parseSiteId)
      .action(onStores(listTokens)),
    commandOf('revoke', 'revoke a token; it stops working within a minute', 'HASH')
      .argument('<token>', 'the token, or at least the first 8 digits of its hash from "token list"')
      .action(onStores(revokeToken)),
  ])

interface KeyOptions extends OfSite, Pick<IssueOptions, 'user' | 'right' | 'ttl'> {
  readonly name: string
}

const revokeKey = (stores: AdminStores, text: string) => revokeGrant(stores, 'key', text)

const createKey = async (stores: AdminStores, options: KeyOptions, self: Command) => {
  const { site, user, name, right: rights, ttl } = options
  await siteOf(stores, site)
  const person = await personOf(stores, user, site)
  const held = rightsOfEntry(person.sites[site])
  const lacking = rights.find((right) => !includesRight(held, right))
  if (lacking !== undefined) {
    throw new Refusal(
      `${person.name} lacks the right ${textOfRight(lacking)} on site ${site}, so a key cannot have it. ` +
        `Give the right to the person first ("user change ${person.name}"), or leave this right out.`,
    )
  }
  const wanted = { name, rights, expires: Math.floor(Date.now() / 1000) + ttl }
  const { id, key, expires } = await issueKey(stores.grants, person, site, wanted, administrator)
  return printOnce(self, 'key', id, { id, key, expires }, () => revokeKey(stores, key))
}

const listKeys = async (stores: AdminStores, { site }: OfSite) => {
  await siteOf(stores, site)
  return describeKeys(stores, await currentKeys(stores.grants, site, Date.now()))
}

const changeOwner = async (stores: AdminStores, text: string, { user }: Pick<KeyOptions, 'user'>) => {
  const key = await findGrant(stores, 'key', text)
  const person = await personOf(stores, user, key.sites[0] as SiteId)
  const to = { user: person.name, since: person.created }
  const entries = [
    ...grantEntries('removed', key, administrator),
    ...grantEntries('created', { ...key, ...to }, administrator),
  ]
  const isChanged = await stores.grants.change(key.hash, (present) => ({ ...present, ...to }), entries)
  if (!isChanged) throw new Refusal('Another command has revoked this key.')
  return { id: key.hash, name: key.name, user: person.name }
}

const keyExample = '--site 1001 --user ann --name "Deployment" --right files:write:/news --right history:read --ttl 30d'

const idArgument = ['<id>', 'the id from the list, 8 or more of its first digits, or the key itself'] as const

export const keyCommand = (): Command =>
  groupOf('key', 'keys for programs', 'list --site 1001', [
    siteCommandOf('create', 'create a key for a program, and print it once', keyExample)
      .requiredOption('--user <name>', 'the owner of the key, a person', parseName)
      .requiredOption('--name <text>', 'the name of the key, such as its program', parseName)
      .addOption(rightOption('a right').makeOptionMandatory())
      .addOption(lifetimeOption('the lifetime of the key, such as 30d or 12w; at most a year', '90d'))
      .action(onStores(createKey)),
    siteCommandOf('list', 'list the keys of a site with their current rights').action(onStores(listKeys)),
    commandOf('change', 'give a key to another person', 'ID --user bob')
      .argument(...idArgument)
      .requiredOption('--user <name>', 'the new owner of the key', parseName)
      .action(onStores(changeOwner)),
    commandOf('revoke', 'revoke a key; it stops working within a minute', 'ID')
      .argument(...idArgument)
      .action(onStores(revokeKey)),
  ])
