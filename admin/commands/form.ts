import { Command } from 'commander'
import type { WebForms } from '../../lib/fields/web-forms.ts'
import { largestNamedId, type SiteId, type WebFormId } from '../../lib/ids.ts'
import { parseName, parsePositiveId } from '../arguments.ts'
import { administrator } from '../author.ts'
import { withStores } from '../context.ts'
import { Refusal } from '../refusal.ts'
import { type AdminStores, siteOf } from '../stores.ts'

interface CreateOptions {
  readonly site: SiteId
  readonly name: string
  readonly id?: WebFormId
}

const createForm = (webForms: WebForms, site: SiteId, id: WebFormId, name: string): Promise<boolean> =>
  webForms.create(
    { site, id, name, fields: [] },
    { ...administrator, site, type: 'form.created', subject: `form/${id}` },
  )

const create = async (stores: AdminStores, { site: siteId, name, id: wanted }: CreateOptions) => {
  const site = await siteOf(stores, siteId)
  const { webForms } = await stores.areas(site)
  if (wanted !== undefined) {
    if (await createForm(webForms, site.id, wanted, name)) return { id: wanted, name }
    throw new Refusal(`Site ${site.id} has a web form ${wanted} already. Choose another --id, or leave it out.`)
  }
  for (let id = (await webForms.highestId(site.id)) + 1; id <= largestNamedId; id++) {
    if (await createForm(webForms, site.id, id as WebFormId, name)) return { id, name }
  }
  throw new Refusal('The ids behind the highest one are used up. Choose a free one with --id.')
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
