import type { Command } from 'commander'
import { largestNamedId, type SiteId } from '../../lib/core/ids.ts'
import type { DataCentre, Site } from '../../lib/sites/site-directory.ts'
import type { Kept } from '../../lib/storage/object-store.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { createUnderId, entryOf } from '../stores/changes.ts'
import { contentsOf, inWords, removeSite } from '../stores/site-removal.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import {
  commandOf,
  dryRun,
  groupOf,
  parseDataCentreId,
  parseName,
  parsePositiveId,
  type RemoveOptions,
  yes,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

interface CreateOptions {
  readonly name: string
  readonly id?: SiteId
  readonly dataCentre?: string
  readonly renderingEngine: boolean
}

const firstId = 1001

const view = ({ id, name, dataCentre, renderingEngine }: Site) => ({ id, name, dataCentre, renderingEngine })

const homeOf = (wanted: string | undefined, dataCentres: readonly DataCentre[]): string => {
  const home =
    wanted === undefined
      ? (dataCentres.find(({ isDefault }) => isDefault) ?? dataCentres[0])
      : dataCentres.find(({ id }) => id === wanted)
  if (home) return home.id
  const known = dataCentres.map(({ id }) => id).join(', ')
  throw new Refusal(
    dataCentres.length === 0
      ? 'There is no data centre yet. Add one with "data-centre add ID --url URL".'
      : `There is no data centre ${wanted}. Choose one of: ${known}.`,
  )
}

// A new site must not inherit the history of a removed one.
const hasHistory = async (stores: AdminStores, dataCentre: string, id: SiteId): Promise<boolean> => {
  const { history } = await stores.areas({ dataCentre })
  return (await history.before(id, undefined, 1)).length > 0
}

const create = async (stores: AdminStores, options: CreateOptions) => {
  const { sites } = stores
  const { sites: existing, dataCentres } = await sites.list()
  const { name, renderingEngine } = options
  const dataCentre = homeOf(options.dataCentre, dataCentres)
  const siteUnder = (id: SiteId): Site => ({ id, name, dataCentre, renderingEngine })
  const nextId = async (): Promise<SiteId> => {
    for (let id = Math.max(firstId, (existing.at(-1)?.id ?? 0) + 1) as SiteId; ; id = (id + 1) as SiteId) {
      if (!(await hasHistory(stores, dataCentre, id))) return id
    }
  }
  const id = await createUnderId<SiteId>({
    wanted: options.id,
    next: nextId,
    largest: largestNamedId,
    create: (id) => sites.createSite(siteUnder(id), entryOf('site.created', id, `site/${id}`)),
    taken: 'There is a site',
  })
  return view(siteUnder(id))
}

// Kept versions of replaced and removed files.
const countKept = async (stores: AdminStores, site: Site): Promise<Kept> => {
  const { files } = await stores.areas(site)
  const kept = await Promise.all([`live/${site.id}/`, `draft/${site.id}/`].map((prefix) => files.keptBelow(prefix)))
  const sum = (of: keyof Kept) => kept.reduce((all, one) => all + one[of], 0)
  return { count: sum('count'), bytes: sum('bytes') }
}

const show = async (stores: AdminStores, id: SiteId) => {
  const site = await siteOf(stores, id)
  // The caller may have the permission for sites without that for files.
  const kept = await countKept(stores, site).catch(() => undefined)
  return { ...view(site), keptVersions: kept?.count ?? null, keptBytes: kept?.bytes ?? null }
}

const rename = async (stores: AdminStores, id: SiteId, { name }: { readonly name: string }) => {
  const site = await siteOf(stores, id)
  if (await stores.sites.renameSite(id, name, entryOf('site.changed', id, `site/${id}`, { name }))) {
    return view({ ...site, name })
  }
  throw new Refusal(`Site ${id} was removed meanwhile. "site list" lists all sites.`)
}

const remove = async (stores: AdminStores, id: SiteId, { yes, dryRun }: RemoveOptions) => {
  const site = await siteOf(stores, id)
  if (yes && !dryRun) {
    await removeSite(stores, site)
    return { removed: true }
  }
  const contents = await contentsOf(stores, site)
  if (dryRun) return { removed: false, ...contents }
  throw new Refusal(`Removing site ${id} "${site.name}" also removes ${inWords(contents)}. ${notSure}`)
}

const list = async ({ sites }: AdminStores) => (await sites.list()).sites.map(view)

const showing = 'show one site, and the size of its replaced and removed files'
const removal = 'remove a site with its files, web forms, categories and objects; its tokens lose access to it'

export const siteCommand = (): Command =>
  groupOf('site', 'sites', 'site list', [
    commandOf('create', 'create a site', 'site create --name "My site"')
      .requiredOption('--name <name>', 'its name', parseName)
      .option('--id <id>', 'its id (default: the next one)', parsePositiveId<SiteId>)
      .option('--data-centre <id>', 'its data centre (default: the default data centre)', parseDataCentreId)
      .option('--no-rendering-engine', 'without the new rendering engine')
      .action(onStores(create)),
    commandOf('list', 'list all sites', 'site list').action(onStores(list)),
    commandOf('show', showing, 'site show 1001')
      .argument('<id>', 'its id', parsePositiveId<SiteId>)
      .action(onStores(show)),
    commandOf('rename', 'rename a site', 'site rename 1001 --name "Our site"')
      .argument('<id>', 'its id', parsePositiveId<SiteId>)
      .requiredOption('--name <name>', 'its new name', parseName)
      .action(onStores(rename)),
    commandOf('remove', removal, 'site remove 1001 --dry-run', 'site remove 1001 --yes')
      .argument('<id>', 'its id', parsePositiveId<SiteId>)
      .option(...yes)
      .option(...dryRun)
      .action(onStores(remove)),
  ])
