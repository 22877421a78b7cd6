import { Command } from 'commander'
import { largestNamedId, type SiteId, type WebFormId } from '../../lib/core/ids.ts'
import type { WebForm } from '../../lib/fields/web-forms.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { createUnderId, entryOf } from '../stores/changes.ts'
import { siteOf, withStores } from '../stores/stores.ts'
import { dryRun, exampleOf, parseName, parsePositiveId, type RemoveOptions, yes } from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

interface OfSite {
  readonly site: SiteId
}

interface NameOptions extends OfSite {
  readonly name: string
}

interface CreateOptions extends NameOptions {
  readonly id?: WebFormId
}

const formsOf = async (stores: AdminStores, { site: id }: OfSite) => {
  const site = await siteOf(stores, id)
  return (await stores.areas(site)).webForms
}

const noForm = (site: SiteId, id: WebFormId) =>
  new Refusal(`Site ${site} has no web form ${id}. "form list" shows those that it has.`)

const formOf = async (stores: AdminStores, id: WebFormId, { site }: OfSite): Promise<WebForm> => {
  const form = await (await formsOf(stores, { site })).get(site, id)
  if (!form) throw noForm(site, id)
  return form
}

const create = async (stores: AdminStores, { site, name, id: wanted }: CreateOptions) => {
  const webForms = await formsOf(stores, { site })
  const id = await createUnderId<WebFormId>({
    wanted,
    next: async () => (await webForms.highestId(site)) + 1,
    largest: largestNamedId,
    create: (id) => webForms.create({ site, id, name, fields: [] }, entryOf('form.created', site, `form/${id}`)),
    taken: `Site ${site} has a web form`,
  })
  return { id, name }
}

const rename = async (stores: AdminStores, id: WebFormId, { site, name }: NameOptions) => {
  const webForms = await formsOf(stores, { site })
  await formOf(stores, id, { site })
  await webForms.rename(site, id, name, entryOf('form.changed', site, `form/${id}`, { name }))
  return { id, name }
}

const remove = async (stores: AdminStores, id: WebFormId, { site, yes, dryRun }: OfSite & RemoveOptions) => {
  const { name, fields } = await formOf(stores, id, { site })
  if (dryRun) return { removed: false, fields: fields.length }
  if (!yes) throw new Refusal(`Web form ${id} "${name}" goes with its system fields: ${fields.length}. ${notSure}`)
  const webForms = await formsOf(stores, { site })
  if (await webForms.remove(site, id, entryOf('form.removed', site, `form/${id}`, { name }))) return { removed: true }
  throw noForm(site, id)
}

const siteOption = ['--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>] as const

export const formCommand = (): Command => {
  const command = new Command('form').description('web forms').addHelpText('after', exampleOf('form list --site 1001'))

  command
    .command('create')
    .description('create a web form')
    .addHelpText('after', exampleOf('form create --site 1001 --name "Contact us"'))
    .requiredOption(...siteOption)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parsePositiveId<WebFormId>)
    .action((options: CreateOptions, self: Command) => withStores(self, (stores) => create(stores, options)))

  command
    .command('list')
    .description('list the web forms of a site')
    .addHelpText('after', exampleOf('form list --site 1001'))
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action((options: OfSite, self: Command) =>
      withStores(self, async (stores) => (await formsOf(stores, options)).list(options.site)),
    )

  command
    .command('rename')
    .description('give a web form another name')
    .addHelpText('after', exampleOf('form rename 1 --site 1001 --name "Write to us"'))
    .argument('<id>', 'its id', parsePositiveId<WebFormId>)
    .requiredOption(...siteOption)
    .requiredOption('--name <name>', 'its new name', parseName)
    .action((id: WebFormId, options: NameOptions, self: Command) =>
      withStores(self, (stores) => rename(stores, id, options)),
    )

  command
    .command('remove')
    .description('remove a web form with its system fields')
    .addHelpText('after', exampleOf('form remove 1 --site 1001 --dry-run', 'form remove 1 --site 1001 --yes'))
    .argument('<id>', 'its id', parsePositiveId<WebFormId>)
    .requiredOption(...siteOption)
    .option(...yes)
    .option(...dryRun)
    .action((id: WebFormId, options: OfSite & RemoveOptions, self: Command) =>
      withStores(self, (stores) => remove(stores, id, options)),
    )

  return command
}
