import { Command } from 'commander'
import { largestNamedId, type SiteId, type WebFormId } from '../../lib/ids.ts'
import { parseName, parsePositiveId } from '../arguments.ts'
import { administrator } from '../author.ts'
import { withStores } from '../context.ts'
import { createUnderId } from '../free-id.ts'
import { type AdminStores, siteOf } from '../stores.ts'

interface CreateOptions {
  readonly site: SiteId
  readonly name: string
  readonly id?: WebFormId
}

const create = async (stores: AdminStores, { site: siteId, name, id: wanted }: CreateOptions) => {
  const site = await siteOf(stores, siteId)
  const { webForms } = await stores.areas(site)
  const id = await createUnderId<WebFormId>({
    wanted,
    next: async () => (await webForms.highestId(site.id)) + 1,
    largest: largestNamedId,
    create: (id) =>
      webForms.create(
        { site: site.id, id, name, fields: [] },
        { ...administrator, site: site.id, type: 'form.created', subject: `form/${id}` },
      ),
    taken: `Site ${site.id} has a web form`,
  })
  return { id, name }
}

export const formCommand = (): Command => {
  const command = new Command('form').description('web forms')

  command
    .command('create')
    .description('create a web form')
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parsePositiveId<WebFormId>)
    .action((options: CreateOptions, self: Command) => withStores(self, (stores) => create(stores, options)))

  command
    .command('list')
    .description('list the web forms of a site')
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action(({ site: id }: { site: SiteId }, self: Command) =>
      withStores(self, async (stores) => {
        const site = await siteOf(stores, id)
        return (await stores.areas(site)).webForms.list(site.id)
      }),
    )

  return command
}
