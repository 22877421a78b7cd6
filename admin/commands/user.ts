import { type Command, Option } from 'commander'
import { askSecret, isTerminal } from '../../client/src/command/ask.ts'
import {
  describeEntry,
  describePerson,
  isEmail,
  isPersonName,
  ownershipsLost,
  type Person,
  personNameRule,
  type RoleName,
  requireOtherOwners,
  roleNames,
  roles,
  type SiteEntry,
  sitesOfPerson,
  withoutSite,
} from '../../lib/access/people.ts'
import { describeInvitation, type Invitation } from '../../lib/access/sign-in.ts'
import { addUser, changeUser, type Manager, removeUser, type UserChange } from '../../lib/access/user-rules.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { howMany } from '../../lib/core/names.ts'
import { mostEntries, parseFolder, type Right, textOfRight } from '../../lib/core/rights.ts'
import { systemClock } from '../../lib/core/time.ts'
import { parserIf, parserOf } from '../../local/flags.ts'
import { type AdminStores, administrator, personOf } from '../stores/admin-stores.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import {
  collect,
  commandOf,
  groupOf,
  type OfSite,
  parseName,
  parseSiteId,
  type RemoveOptions,
  removeCommandOf,
  rightOption,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

interface Options {
  readonly role?: RoleName
  readonly folder?: readonly string[]
  readonly right?: readonly Right[]
  readonly email?: string
  readonly displayName?: string
  readonly passwordStdin?: true
  readonly enable?: true
}

// Commands act with every right.
const managerOn = (site: SiteId, sites: readonly SiteId[]): Manager => {
  const rightsBySite = new Map(sites.map((id) => [id, roles.owner.rights]))
  return { site: { id: site }, author: administrator, caller: { rightsBySite } }
}

const depsOf = ({ people, sites }: AdminStores) => ({ people, findSite: sites.getSite, clock: systemClock })

const entryIn = ({ role, folder, right }: Options): SiteEntry | undefined => {
  const isPerFolder = role !== undefined && roles[role].isPerFolder
  if (isPerFolder && !folder) throw new Refusal(`The role ${role} needs at least one folder: add --folder /PATH.`)
  if (!isPerFolder && folder) throw new Refusal('Only the role author has folders: leave out --folder.')
  if (right) return { rights: right.map(textOfRight) }
  return role && { role, ...(folder && { folders: folder }) }
}

const invitationView = async (stores: AdminStores, name: string, site: SiteId, invitation?: Invitation) => {
  const { dataCentre } = await siteOf(stores, site)
  const { url = '' } = (await stores.sites.getDataCentre(dataCentre)) ?? {}
  return describeInvitation(name, invitation, url)
}

const readPassword = async (): Promise<string> => {
  const password = await askSecret('Password (not shown): ')
  if (password === '') throw new Refusal('Standard input is empty. Write the password to it.')
  if (isTerminal() && (await askSecret('Password again: ')) !== password)
    throw new Refusal('The two passwords differ. Nothing was changed.')
  return password
}

const add = async (
  stores: AdminStores,
  name: string,
  options: Options & { readonly site: readonly [SiteId, ...SiteId[]] },
) => {
  const { site: ids, email, displayName, passwordStdin } = options
  const entry = entryIn(options)
  if (!entry) throw new Refusal('Give the person rights with --role or --right. "role list" lists the roles.')
  await Promise.all(ids.map((id) => siteOf(stores, id)))
  const known = await stores.people.get(name)
  const isJoining = (email ?? displayName) === undefined && ids.every((id) => known?.sites[id] === undefined)
  if (known && !isJoining)
    throw new Refusal(`${name} already exists. Change rights, --email and --display-name with "user change ${name}".`)
  const password = passwordStdin && (await readPassword())
  const sites: Person['sites'] = Object.fromEntries(ids.map((id) => [id, entry]))
  const user = { name: known?.name ?? name, email, displayName, sites, password }
  const { invitation } = await addUser(depsOf(stores), managerOn(ids[0], ids), user)
  return password === undefined ? invitationView(stores, user.name, ids[0], invitation) : { name }
}

// The rights name the folders too.
const entryOn = (site: SiteId, { sites }: Person) => {
  const { folders: _, ...entry } = describeEntry(sites[site])
  return entry
}

const list = async (stores: AdminStores, { site }: OfSite) => {
  await siteOf(stores, site)
  return (await stores.people.listOfSites(site)).map((person) => ({
    ...describePerson(person),
    ...entryOn(site, person),
  }))
}

const show = async (stores: AdminStores, name: string) => {
  const person = await personOf(stores, name)
  const sites = sitesOfPerson(person).map((site) => ({ site, ...entryOn(site, person) }))
  return { ...describePerson(person), sites }
}

const applyChange = async (stores: AdminStores, name: string, wanted: UserChange, site?: SiteId) => {
  if (site !== undefined) await siteOf(stores, site)
  const person = await personOf(stores, name)
  const on = site ?? sitesOfPerson(person)[0]
  if (on === undefined || person.sites[on] === undefined) {
    throw new Refusal(
      `${person.name} does not have ${site === undefined ? 'any site' : `site ${site}`}. ` +
        `Add it first: "user add ${person.name} --site ID --role ROLE".`,
    )
  }
  const { invitation } = await changeUser(depsOf(stores), managerOn(on, sitesOfPerson(person)), name, wanted)
  return invitationView(stores, person.name, on, invitation)
}

const change = async (stores: AdminStores, name: string, options: Options & Partial<OfSite>) => {
  const { site, email, displayName, enable, passwordStdin } = options
  const entry = entryIn(options)
  if (entry && site === undefined) throw new Refusal('Name the site of the new rights with --site.')
  const wanted = { entry, email, displayName, ...(enable && { disabled: false }) }
  if (!passwordStdin && Object.values(wanted).every((value) => value === undefined))
    throw new Refusal('Name what to change: "user change --help" lists the options.')
  const password = passwordStdin && (await readPassword())
  await applyChange(stores, name, { ...wanted, password }, site)
  return show(stores, name)
}

const invite = (stores: AdminStores, name: string) => applyChange(stores, name, { invite: true })

const disable = async (stores: AdminStores, name: string) => {
  await applyChange(stores, name, { disabled: true })
  return show(stores, name)
}

const remove = async (stores: AdminStores, name: string, options: Partial<OfSite> & RemoveOptions) => {
  const { site, yes, dryRun } = options
  if (site !== undefined) await siteOf(stores, site)
  const person = await personOf(stores, name, site)
  const sites = site === undefined ? sitesOfPerson(person) : [site]
  if (dryRun || !yes) {
    // A preview must refuse what the removal would refuse.
    const after = site === undefined ? undefined : withoutSite(person, site)
    const people = await stores.people.listOfSites(...ownershipsLost(person, after))
    requireOtherOwners(people, person, after)
    const keysOfSites = await Promise.all(sites.map((id) => stores.grants.keysOf(id)))
    const keys = keysOfSites.flat().filter(({ user }) => user === person.name).length
    if (dryRun) return { removed: false, sites, keys }
    throw new Refusal(
      `Removing ${person.name} from ${howMany(sites.length, 'site')} (${sites.join(', ')}) also ends ${howMany(keys, 'key')}` +
        `${after ? '' : ' and all sessions'}. ${notSure}`,
    )
  }
  await removeUser(depsOf(stores), managerOn(sites[0] as SiteId, sites), name, () => site === undefined)
  return { removed: true }
}

const parseUserName = parserIf(isPersonName, `It ${personNameRule}.`)

const parseEmail = parserIf(
  (text) => text === '' || isEmail(text),
  'It must be an e-mail address, or empty to remove it.',
)

const parseFolderOption = parserOf(parseFolder, 'It must be a folder, such as /news.')

const personCommand = (...described: Parameters<typeof commandOf>): Command =>
  commandOf(...described).argument('<name>', 'the name of the person', parseUserName)

const withEntry = (command: Command): Command =>
  command
    .addOption(new Option('--role <role>', 'the role; "role list" explains them').choices(roleNames).conflicts('right'))
    .option('--folder <path>', 'a folder of the role author (repeatable)', collect(parseFolderOption, mostEntries))
    .addOption(rightOption('a right instead of a role'))
    .option('--email <address>', 'the e-mail address; an empty text removes it', parseEmail)
    .option('--display-name <text>', 'the name to show', parseName)
    .option('--password-stdin', 'read the password from standard input')

const addExamples = [
  'ann --site 1001 --role owner --email ann@example.com',
  'bob --site 1001 --role author --folder /news --password-stdin',
]

export const userCommand = (): Command =>
  groupOf('user', 'people who sign in', 'list --site 1001', [
    withEntry(personCommand('add', 'add a person, and print an invitation', ...addExamples))
      .requiredOption('--site <id>', 'a site of the person (repeatable)', collect(parseSiteId))
      .action(onStores(add)),
    siteCommandOf('list', 'list the people of a site').action(onStores(list)),
    personCommand('show', 'show a person with all sites', 'ann').action(onStores(show)),
    withEntry(
      personCommand('change', 'change rights, address or password of a person', 'ann --site 1001 --role editor'),
    )
      .option('--site <id>', 'the site of the new role or rights', parseSiteId)
      .option('--enable', 'let a disabled person sign in again')
      .action(onStores(change)),
    personCommand('invite', 'print a new invitation, which resets the password', 'ann').action(onStores(invite)),
    personCommand('disable', 'stop all sessions and keys until "user change --enable"', 'ann').action(
      onStores(disable),
    ),
    removeCommandOf(personCommand, 'remove a person, from one site or from all sites', 'ann --site 1001')
      .option('--site <id>', 'remove the person only from this site', parseSiteId)
      .action(onStores(remove)),
  ])
