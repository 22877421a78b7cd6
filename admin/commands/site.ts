import { Command } from 'commander'
import { largestNamedId, type SiteId } from '../../lib/ids.ts'
import type { DataCentre, Site } from '../../lib/sites/site-directory.ts'
import type { Kept } from '../../lib/storage/object-store.ts'
import { parseBaseUrl, parseDataCentreId, parseName, parsePositiveId } from '../arguments.ts'
import { createUnderId, entryOf } from '../changes.ts'
import { Refusal } from '../output.ts'
import { type AdminStores, siteOf, withStores } from '../stores.ts'

const viewOfDataCentre = ({ id, url, isDefault }: DataCentre) => ({ id, url, default: isDefault })

export const dataCentreCommand = (): Command => {
  const command = new Command('data-centre').description('data centres and the base URLs of their services')

  command
    .command('add')
    .description('register a data centre, or change its base URL')
    .argument('<id>', 'such as us', parseDataCentreId)
    .requiredOption('--url <url>', 'its base URL', parseBaseUrl)
    .option('--region <region>', 'where its tables are, when it is deployed')
    .action((id: string, { url, region }: { url: string; region?: string }, self: Command) =>
      withStores(self, async ({ sites }) => {
        const { dataCentres } = await sites.list()
        const others = dataCentres.filter((dataCentre) => dataCentre.id !== id)
        const isDefault = !others.some((other) => other.isDefault)
        // What a deployment has written of it, such as its region, stays.
        const dataCentre = {
          ...dataCentres.find((known) => known.id === id),
          ...(region !== undefined && { region }),
          id,
          url,
          isDefault,
        }
        await sites.putDataCentre(dataCentre)
        return viewOfDataCentre(dataCentre)
      }),
    )

  command
    .command('list')
    .description('list all data centres')
    .action((_options: object, self: Command) =>
      withStores(self, async ({ sites }) => (await sites.list()).dataCentres.map(viewOfDataCentre)),
    )

  return command
}

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

const create = async ({ sites }: AdminStores, options: CreateOptions): Promise<Site> => {
  const { sites: existing, dataCentres } = await sites.list()
  const { name, renderingEngine } = options
  const dataCentre = homeOf(options.dataCentre, dataCentres)
  const siteUnder = (id: SiteId): Site => ({ id, name, dataCentre, renderingEngine })
  const id = await createUnderId<SiteId>({
    wanted: options.id,
    next: async () => Math.max(firstId, (existing.at(-1)?.id ?? 0) + 1),
    largest: largestNamedId,
    create: (id) => sites.createSite(siteUnder(id), entryOf('site.created', id, `site/${id}`)),
    taken: 'There is a site',
  })
  return siteUnder(id)
}

/** How much is kept of the replaced and removed files of a site. */
const countKept = async (stores: AdminStores, site: Site): Promise<Kept> => {
  const { files } = await stores.areas(site)
  const kept = await Promise.all([`live/${site.id}/`, `draft/${site.id}/`].map((prefix) => files.keptBelow(prefix)))
  const sum = (of: keyof Kept) => kept.reduce((all, one) => all + one[of], 0)
  return { count: sum('count'), bytes: sum('bytes') }
}

export const siteCommand = (): Command => {
  const command = new Command('site').description('sites')

  command
    .command('create')
    .description('create a site')
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parsePositiveId<SiteId>)
    .option('--data-centre <id>', 'where it lives (default: the default data centre)', parseDataCentreId)
    .option('--no-rendering-engine', 'without the new rendering engine')
    .action((options: CreateOptions, self: Command) =>
      withStores(self, async (stores) => view(await create(stores, options))),
    )

  command
    .command('list')
    .description('list all sites')
    .action((_options: object, self: Command) =>
      withStores(self, async ({ sites }) => (await sites.list()).sites.map(view)),
    )

  command
    .command('show')
    .description('show one site, and how much is kept of its replaced and removed files')
    .argument('<id>', 'its id', parsePositiveId<SiteId>)
    .action((id: SiteId, _options: object, self: Command) =>
      withStores(self, async (stores) => {
        const site = await siteOf(stores, id)
        // Who may read sites need not come at their files.
        const kept = await countKept(stores, site).catch(() => undefined)
        return { ...view(site), keptVersions: kept?.count ?? null, keptBytes: kept?.bytes ?? null }
      }),
    )

  return command
}
