import type { Command } from 'commander'
import { largestNamedId, type SiteId, type WebFormId } from '../../lib/core/ids.ts'
import { type AdminStores, createUnderId, entryOf } from '../stores/admin-stores.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import {
  groupOf,
  type NewOptions,
  type OfSite,
  parseName,
  parsePositiveId,
  type RemoveOptions,
  removeCommandOf,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

const noForm = (site: SiteId, id: WebFormId) =>
  new Refusal(`Site ${site} has no web form ${id}. "form list --site ${site}" lists its web forms.`)

const findForm = async (stores: AdminStores, site: SiteId, id: WebFormId) => {
  const { webForms } = await areaOf(stores, site)
  const form = await webForms.get(site, id)
  if (!form) throw noForm(site, id)
  return { webForms, form }
}

const create = async (stores: AdminStores, { site, name, id: wanted }: NewOptions<WebFormId>) => {
  const { webForms } = await areaOf(stores, site)
  const id = await createUnderId<WebFormId>({
    wanted,
    next: async (least) => Math.max(least, (await webForms.highestId(site)) + 1),
    largest: largestNamedId,
    create: (id) => webForms.create({ site, id, name, fields: [] }, entryOf('form.created', site, `form/${id}`)),
    taken: `Site ${site} has a web form`,
  })
  return { id, name }
}

const list = async (stores: AdminStores, { site }: OfSite) => (await areaOf(stores, site)).webForms.list(site)

const rename = async (stores: AdminStores, id: WebFormId, { site, name }: NewOptions<WebFormId>) => {
  const { webForms } = await findForm(stores, site, id)
  await webForms.rename(site, id, name, entryOf('form.changed', site, `form/${id}`, { name }))
  return { id, name }
}

const remove = async (stores: AdminStores, id: WebFormId, { site, yes, dryRun }: OfSite & RemoveOptions) => {
  const { webForms, form } = await findForm(stores, site, id)
  const { name, fields } = form
  if (dryRun) return { removed: false, fields: fields.length }
  if (!yes) throw new Refusal(`Removing web form ${id} "${name}" also removes its fields: ${fields.length}. ${notSure}`)
  if (await webForms.remove(site, id, entryOf('form.removed', site, `form/${id}`, { name }))) return { removed: true }
  throw noForm(site, id)
}

const ofId = (...described: Parameters<typeof siteCommandOf>): Command =>
  siteCommandOf(...described).argument('<id>', 'the id of the web form', parsePositiveId<WebFormId>)

export const formCommand = (): Command =>
  groupOf('form', 'web forms', 'list --site 1001', [
    siteCommandOf('create', 'create a web form', '--site 1001 --name "Contact us"')
      .requiredOption('--name <name>', 'the name of the web form', parseName)
      .option('--id <id>', 'the id of the web form (default: one more than the highest id)', parsePositiveId<WebFormId>)
      .action(onStores(create)),
    siteCommandOf('list', 'list the web forms of a site').action(onStores(list)),
    ofId('rename', 'rename a web form', '1 --site 1001 --name "Write to us"')
      .requiredOption('--name <name>', 'the new name', parseName)
      .action(onStores(rename)),
    removeCommandOf(ofId, 'remove a web form with its system fields', '1 --site 1001').action(onStores(remove)),
  ])
