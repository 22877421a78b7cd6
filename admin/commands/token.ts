import { type Command, Option } from 'commander'
import {
  issueGrant,
  kindOf,
  type Permission,
  permissions,
  permissionsOf,
  rightsOfToken,
} from '../../lib/access/grants.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { type Right, rightOf, simplified, textOfRight } from '../../lib/core/rights.ts'
import { inIso } from '../../lib/core/time.ts'
import { type AdminStores, administrator, revokeGrant } from '../stores/admin-stores.ts'
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
} from '../terminal/arguments.ts'
import { printOnce } from '../terminal/output.ts'

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

const revoke = (stores: AdminStores, text: string) => revokeGrant(stores, 'token', text)

const issue = async (stores: AdminStores, { user, site, ttl, ...given }: IssueOptions, self: Command) => {
  await Promise.all(site.map((id) => siteOf(stores, id)))
  const expires = Math.floor(Date.now() / 1000) + ttl
  const granted = { user, sites: [...new Set(site)], permissions: permissionsIn(given), expires }
  const { token, grant } = await issueGrant(stores.grants, granted, administrator)
  return printOnce(self, 'token', grant.hash, { token, expires: inIso(expires) }, () => revoke(stores, token))
}

const list = async (stores: AdminStores, { site }: Partial<OfSite>) => {
  if (site !== undefined) await siteOf(stores, site)
  const tokens = (await stores.grants.list()).filter((grant) => kindOf(grant) === 'token')
  const covering = tokens.filter(({ sites }) => site === undefined || sites.includes(site))
  return covering.map((token) => {
    const { hash, user, sites } = token
    const rights = rightsOfToken(token)
    const permissions = permissionsOf(rights)
    return { hash, user, sites, permissions, rights: rights.map(textOfRight), expires: inIso(token.expires) }
  })
}

const issueExamples = [
  'token issue --user ann --site 1001 --permission files --ttl 4h',
  'token issue --user press --site 1001 --right files:write:/news --right history:read',
]

const permissionOption = () =>
  new Option('--permission <permission...>', 'a permission: files equals the right files:write (repeatable)')
    .choices(permissions)
    .default([], 'none')

export const tokenCommand = (): Command =>
  groupOf('token', 'access tokens', 'token list', [
    commandOf('issue', 'issue a token, and print it once', ...issueExamples)
      .requiredOption('--user <name>', 'the name of the user of the token', parseName)
      .requiredOption('--site <id>', 'a site that the token covers (repeatable)', collect(parseSiteId))
      .addOption(permissionOption())
      .addOption(rightOption('a right in place of the default rights').default([]))
      .addOption(lifetimeOption('how long the token works, such as 30m, 4h, 3d or 2w', '2w'))
      .action(onStores(issue)),
    commandOf('list', 'list the tokens by their hash', 'token list --site 1001')
      .option('--site <id>', 'only tokens that cover this site', parseSiteId)
      .action(onStores(list)),
    commandOf('revoke', 'revoke a token; it stops working within a minute', 'token revoke HASH')
      .argument('<token>', 'the token, or at least the first 8 digits of its hash from "token list"')
      .action(onStores(revoke)),
  ])
