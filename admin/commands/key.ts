import type { Command } from 'commander'
import { grantEntries } from '../../lib/access/grants.ts'
import { currentKeys, describeKeys, issueKey } from '../../lib/access/keys.ts'
import { type Person, rightsOfEntry } from '../../lib/access/people.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { includesRight, type Right, textOfRight } from '../../lib/core/rights.ts'
import { type AdminStores, administrator, findGrant, revokeGrant } from '../stores/admin-stores.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import {
  commandOf,
  groupOf,
  lifetimeOption,
  type OfSite,
  parseName,
  rightOption,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { printOnce, Refusal } from '../terminal/output.ts'

interface CreateOptions extends OfSite {
  readonly user: string
  readonly name: string
  readonly right: readonly Right[]
  readonly ttl: number
}

const personOn = async ({ people }: AdminStores, name: string, site: SiteId): Promise<Person> => {
  const person = await people.get(name)
  if (person?.sites[site] !== undefined) return person
  throw new Refusal(`Site ${site} has no person ${name}. "user list --site ${site}" lists its people.`)
}

const refuseLacking = (person: Person, site: SiteId, rights: readonly Right[]): void => {
  const held = rightsOfEntry(person.sites[site])
  const lacking = rights.find((right) => !includesRight(held, right))
  if (lacking === undefined) return
  throw new Refusal(
    `${person.name} lacks the right ${textOfRight(lacking)} on site ${site}, so a key cannot have it. ` +
      `Give the right to the person first ("user change ${person.name}"), or leave this right out.`,
  )
}

const revoke = (stores: AdminStores, text: string) => revokeGrant(stores, 'key', text)

const create = async (stores: AdminStores, options: CreateOptions, self: Command) => {
  const { site, user, name, right: rights, ttl } = options
  await siteOf(stores, site)
  const person = await personOn(stores, user, site)
  refuseLacking(person, site, rights)
  const wanted = { name, rights, expires: Math.floor(Date.now() / 1000) + ttl }
  const { id, key, expires } = await issueKey(stores.grants, person, site, wanted, administrator)
  return printOnce(self, 'key', id, { id, key, expires }, () => revoke(stores, key))
}

const list = async (stores: AdminStores, { site }: OfSite) => {
  await siteOf(stores, site)
  return describeKeys(stores, await currentKeys(stores.grants, site, Date.now()))
}

const change = async (stores: AdminStores, text: string, { user }: Pick<CreateOptions, 'user'>) => {
  const key = await findGrant(stores, 'key', text)
  const person = await personOn(stores, user, key.sites[0] as SiteId)
  const to = { user: person.name, since: person.created }
  const entries = [
    ...grantEntries('removed', key, administrator),
    ...grantEntries('created', { ...key, ...to }, administrator),
  ]
  const isChanged = await stores.grants.change(key.hash, (present) => ({ ...present, ...to }), entries)
  if (!isChanged) throw new Refusal('Another command has revoked this key.')
  return { id: key.hash, name: key.name, user: person.name }
}

const createExample =
  'key create --site 1001 --user ann --name "Deployment" --right files:write:/news --right history:read --ttl 30d'

const idArgument = ['<id>', 'the id from the list, 8 or more of its first digits, or the key itself'] as const

export const keyCommand = (): Command =>
  groupOf('key', 'keys for programs', 'key list --site 1001', [
    siteCommandOf('create', 'create a key for a program, and print it once', createExample)
      .requiredOption('--user <name>', 'the owner of the key, a person', parseName)
      .requiredOption('--name <text>', 'the name of the key, such as its program', parseName)
      .addOption(rightOption('a right').makeOptionMandatory())
      .addOption(lifetimeOption('the lifetime of the key, such as 30d or 12w; at most a year', '90d'))
      .action(onStores(create)),
    siteCommandOf('list', 'list the keys of a site with their current rights', 'key list --site 1001').action(
      onStores(list),
    ),
    commandOf('change', 'give a key to another person', 'key change ID --user bob')
      .argument(...idArgument)
      .requiredOption('--user <name>', 'the new owner of the key', parseName)
      .action(onStores(change)),
    commandOf('revoke', 'revoke a key; it stops working within a minute', 'key revoke ID')
      .argument(...idArgument)
      .action(onStores(revoke)),
  ])
