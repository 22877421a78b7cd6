import type { Command } from 'commander'
import { largestNamedId, type SiteId } from '../../lib/core/ids.ts'
import type { DataCentre, Site } from '../../lib/sites/site-directory.ts'
import type { Kept } from '../../lib/storage/object-store.ts'
import { parseBaseUrl } from '../../local/flags.ts'
import { type AdminStores, type AreaStores, createUnderId, entryOf } from '../stores/admin-stores.ts'
import { contentsOf, inWords, removeSite } from '../stores/site-removal.ts'
import { adviceOn, type GlobalOptions, onStores, siteOf } from '../stores/stores.ts'
import {
  commandOf,
  groupOf,
  parseName,
  parsePlainId,
  parseQuota,
  parseRegion,
  parseSiteId,
  type RemoveOptions,
  removeCommandOf,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

const viewOfDataCentre = ({ id, url, isDefault }: DataCentre) => ({ id, url, default: isDefault })

type DataCentreOptions = Pick<DataCentre, 'url' | 'region'>

const addDataCentre = async (stores: AdminStores, id: string, { url, region }: DataCentreOptions, self: Command) => {
  const { dataCentres } = await stores.sites.list()
  const known = dataCentres.find((dataCentre) => dataCentre.id === id)
  const isDefault = !dataCentres.some((other) => other.id !== id && other.isDefault)
  // Keeps the region and the other values that a deployment has written.
  const dataCentre = { ...known, ...(region !== undefined && { region }), id, url, isDefault }
  await stores.sites.putDataCentre(dataCentre)
  if (known && known.url !== url) {
    const memory = await stores.memory()
    if (memory > 0) console.error(`Running services use the old base URL for up to ${memory / 1000} seconds.`)
    if (self.optsWithGlobals<GlobalOptions>().target === 'local')
      console.error(
        `A service that serves ${id} from this data directory sets its base URL at each start. Start it with ` +
          'the new --base-url.',
      )
  }
  return viewOfDataCentre(dataCentre)
}

const listDataCentres = async ({ sites }: AdminStores) => (await sites.list()).dataCentres.map(viewOfDataCentre)

export const dataCentreCommand = (): Command =>
  groupOf('data-centre', 'data centres and the base URLs of their services', 'list', [
    commandOf('add', 'register a data centre, or change its base URL', 'us --url https://us.example.com')
      .argument('<id>', 'the id of the data centre, such as us', parsePlainId)
      .requiredOption('--url <url>', 'the base URL of its service', parseBaseUrl)
      .option('--region <region>', 'the region of its tables, if it is on AWS', parseRegion)
      .action(onStores(addDataCentre)),
    commandOf('list', 'list all data centres').action(onStores(listDataCentres)),
  ])

type CreateOptions = Omit<Site, 'id' | 'dataCentre'> & Partial<Pick<Site, 'id' | 'dataCentre'>>

const firstId = 1001

const homeOf = (wanted: string | undefined, dataCentres: readonly DataCentre[]): string => {
  const usual = dataCentres.length === 1 ? dataCentres : dataCentres.filter(({ isDefault }) => isDefault)
  const [home, another] = wanted === undefined ? usual : dataCentres.filter(({ id }) => id === wanted)
  if (home && !another) return home.id
  const known = dataCentres.map(({ id }) => id).join(', ')
  const unclear = 'Add --data-centre, because the directory has several default data centres, or none.'
  const fault = wanted === undefined ? unclear : `There is no data centre ${wanted}.`
  throw new Refusal(
    dataCentres.length === 0
      ? 'There is no data centre yet. Add one with "data-centre add ID --url URL".'
      : `${fault} Choose one of: ${known}.`,
  )
}

const prefixesOf = (site: SiteId) => [`live/${site}/`, `draft/${site}/`]

// The versions of replaced and removed files that are still kept.
const countKept = async (area: AreaStores, site: SiteId): Promise<Kept> => {
  const files = await area.files()
  const kept = await Promise.all(prefixesOf(site).map((prefix) => files.keptBelow(prefix)))
  const sum = (of: keyof Kept) => kept.reduce((all, one) => all + one[of], 0)
  return { count: sum('count'), bytes: sum('bytes') }
}

// The history and the files of a removed site stay for different times.
const isUnused = async (area: AreaStores, id: SiteId): Promise<boolean> => {
  if ((await area.history.before(id, undefined, 1)).length > 0) return false
  const files = await area.files()
  const present = await Promise.all(prefixesOf(id).map((prefix) => files.exists(prefix)))
  return !present.includes(true) && (await countKept(area, id)).count === 0
}

const create = async (stores: AdminStores, options: CreateOptions) => {
  const { sites } = stores
  const { sites: existing, dataCentres } = await sites.list()
  const { name, renderingEngine, quota } = options
  const dataCentre = homeOf(options.dataCentre, dataCentres)
  const limit = quota === undefined ? {} : { quota }
  const siteUnder = (id: SiteId): Site => ({ id, name, dataCentre, renderingEngine, ...limit })
  // A new site must not inherit the history or the files of a removed site with the same id.
  const nextId = async (least: number): Promise<SiteId> => {
    const area = await stores.areas({ dataCentre })
    for (let id = Math.max(firstId, least, (existing.at(-1)?.id ?? 0) + 1) as SiteId; ; id = (id + 1) as SiteId) {
      if (await isUnused(area, id)) return id
    }
  }
  const id = await createUnderId<SiteId>({
    wanted: options.id,
    next: nextId,
    largest: largestNamedId,
    async create(id) {
      if (existing.some((site) => site.id === id)) return false
      if (quota !== undefined) await (await stores.areas({ dataCentre })).usage.prepare(id, true)
      return sites.createSite(siteUnder(id), entryOf('site.created', id, `site/${id}`))
    },
    taken: 'There is a site',
  })
  return siteUnder(id)
}

const show = async (stores: AdminStores, id: SiteId) => {
  const site = await siteOf(stores, id)
  const area = await stores.areas(site)
  // The bucket may be lost, or the caller may have the right to read sites, but not files.
  const kept = await countKept(area, id).catch((error: unknown) => {
    const advice = adviceOn(error)
    if (advice === undefined) throw error
    console.error(`The replaced and removed files could not be counted. ${advice}`)
  })
  const usedBytes = await area.usage.bytesOf(id)
  const ofQuota = { quota: site.quota ?? null, usedBytes: usedBytes ?? null }
  return { ...site, ...ofQuota, keptVersions: kept?.count ?? null, keptBytes: kept?.bytes ?? null }
}

const alreadyRemoved = (id: SiteId) =>
  new Refusal(`Another command has removed site ${id}. "site list" lists all sites.`)

const rename = async (stores: AdminStores, id: SiteId, { name }: { readonly name: string }) => {
  const site = await siteOf(stores, id)
  const entry = entryOf('site.changed', id, `site/${id}`, { name })
  if (!(await stores.sites.renameSite(id, name, entry))) throw alreadyRemoved(id)
  return { ...site, name }
}

const setQuota = async (stores: AdminStores, id: SiteId, quota: number | undefined) => {
  const site = await siteOf(stores, id)
  // Without a quota, AWS does not count the bytes. So a count of the time before would be wrong.
  if ((site.quota === undefined) !== (quota === undefined)) await (await stores.areas(site)).usage.prepare(id, false)
  const entry = entryOf('site.changed', id, `site/${id}`, { quota: quota ?? 'none' })
  if (!(await stores.sites.setQuota(id, quota, entry))) throw alreadyRemoved(id)
  return { ...site, quota: quota ?? null }
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

const list = async ({ sites }: AdminStores) => (await sites.list()).sites

const showing = 'show one site, its quota and used bytes, and the size of its replaced and removed files'
const limiting = 'limit the bytes that live files, drafts and open uploads use together; existing files stay'
const removal = 'remove a site with its files, web forms, categories and objects; tokens no longer cover it'

const ofId = (...described: Parameters<typeof commandOf>): Command =>
  commandOf(...described).argument('<id>', 'the id of the site', parseSiteId)

export const siteCommand = (): Command =>
  groupOf('site', 'sites', 'list', [
    commandOf('create', 'create a site', '--name "My site"')
      .requiredOption('--name <name>', 'the name of the site', parseName)
      .option(
        '--id <id>',
        'the id of the site (default: the next id after the highest that no removed site still uses)',
        parseSiteId,
      )
      .option('--data-centre <id>', 'the data centre of the site (default: the default data centre)', parsePlainId)
      .option('--no-rendering-engine', 'switch off the new rendering engine, and with it the operations on categories')
      .option('--quota <bytes>', 'the bytes that the site may use (default: no limit)', parseQuota)
      .action(onStores(create)),
    commandOf('list', 'list all sites').action(onStores(list)),
    ofId('show', showing, '1001').action(onStores(show)),
    ofId('rename', 'rename a site', '1001 --name "Our site"')
      .requiredOption('--name <name>', 'the new name', parseName)
      .action(onStores(rename)),
    ofId('quota', limiting, '1001 5000000000', '1001 none')
      .argument('<bytes>', 'the quota in bytes, or none', parseQuota)
      .action(onStores(setQuota)),
    removeCommandOf(ofId, removal, '1001').action(onStores(remove)),
  ])
