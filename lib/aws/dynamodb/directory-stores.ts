import { type Grant, type Grants, isGrantOfKey, type Key, storedGrant } from '../../access/grants.ts'
import { ServiceError } from '../../core/errors.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import { isAccessValue, trustKey } from './access-values.ts'
import { type ItemChange, mapped, openTable, queryItems, scan, type Table } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'
import { type RecordChange, type RecordingOptions, recordIf } from './journal.ts'

/** Only commands change sites and tokens. Functions only read them, and so need no history here. */
export const withoutHistory: RecordChange = async () => {}

const mostAttempts = 5

// The last use of a key has its own item. If another data centre writes this item while the key is revoked, the key
// does not come back.
const usePrefix = 'used#'
const useOf = (hash: string): string => usePrefix + hash

const isUse = ({ hash }: { readonly hash?: unknown }): boolean => String(hash).startsWith(usePrefix)

const readKeys = async (table: Table, site: SiteId): Promise<readonly Key[]> => {
  const query = { index: 'keysOfSite', where: '#site = :site', values: { ':site': site }, columns: ['hash'] }
  const found = await queryItems(table, query)
  const items = await batchGet<Readonly<Record<string, unknown>>>(
    table,
    found.map(({ hash }) => ({ hash: String(hash) })),
  )
  const days = new Map(items.filter(isUse).map(({ hash, day }) => [hash, String(day)]))
  const keys = items
    .filter((item) => !isUse(item))
    .map(storedGrant)
    .filter(isGrantOfKey)
  return keys.map((key) => {
    const lastUsed = days.get(useOf(key.hash))
    return { ...key, ...(lastUsed !== undefined && { lastUsed }) }
  })
}

export const createGrants = ({ record, ...options }: RecordingOptions): Grants => {
  const table = openTable(options)
  return {
    get: async (hash, isNewest = false) => mapped(await table.get({ hash }, isNewest), storedGrant),

    async uncover(hash, site, entry) {
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const item = await table.get({ hash })
        const sites = item && storedGrant(item).sites
        if (!sites?.includes(site)) return false
        const others = sites.filter((other) => other !== site)
        // No command adds sites to a token, so an equal number of sites means the same sites.
        const condition = 'contains(#sites, :site) AND size(#sites) = :count'
        const values = { ':site': site, ':count': sites.length }
        const isDone =
          others.length === 0
            ? await table.take({ hash }, { condition, values })
            : await table.update({ hash }, { set: { sites: others }, condition, values })
        if (await recordIf(isDone, record, entry)) return true
      }
      throw new ServiceError('unavailable')
    },

    async put(grant, entries) {
      const found = isGrantOfKey(grant) ? { site: grant.sites[0] } : {}
      const own: Required<Record<keyof Omit<Grant, 'kind' | 'since' | 'name' | 'parent'>, unknown>> = grant
      await table.put({ ...own, ...found })
      for (const entry of entries) await record(entry)
    },

    remove: async (hash, entries) => recordIf(await table.remove({ hash }), record, ...entries),

    async *list() {
      for await (const item of scan(table)) if (!isUse(item) && !isAccessValue(item)) yield storedGrant(item)
    },

    keysOf: (site) => readKeys(table, site),

    async handOver(hash, { user, since }, entries) {
      const change = { set: { user, since }, condition: 'attribute_exists(#name)' }
      return recordIf(await table.update({ hash }, change), record, ...entries)
    },

    async recordUse({ hash, sites: [site], expires }, day) {
      const use = { hash: useOf(hash), site, day, expires }
      await table.put(use, { condition: 'attribute_not_exists(#hash) OR #day < :day', values: { ':day': day } })
    },
  }
}

interface SiteItem {
  readonly id: string
  readonly name: string
  readonly dataCentre: string
  readonly features: { readonly renderingEngine: boolean }
  readonly quota?: number
}

const siteKey = (id: SiteId) => ({ id: String(id) })
const dataCentrePrefix = 'dc#'
const dataCentreKey = (id: string) => ({ id: dataCentrePrefix + id })

const toSite = ({ id, name, dataCentre, features, quota }: SiteItem): Site => ({
  id: storedId(id),
  name,
  dataCentre,
  renderingEngine: features.renderingEngine,
  ...(quota !== undefined && { quota }),
})

const toDataCentre = ({ id, ...dataCentre }: DataCentre): DataCentre => ({
  id: id.slice(dataCentrePrefix.length),
  ...dataCentre,
})

export const createSiteDirectory = ({ record, ...options }: RecordingOptions): SiteDirectory => {
  const siteTable = openTable<SiteItem>(options)
  const dataCentreTable = openTable<DataCentre>(options)

  const changeSite = async (
    id: SiteId,
    change: ItemChange,
    differs: (before: Partial<SiteItem>) => boolean,
    entry: HistoryEntry,
  ): Promise<boolean> => {
    const condition = 'attribute_exists(#id)'
    const before = await siteTable.update(siteKey(id), { ...change, condition, returns: 'UPDATED_OLD' })
    await recordIf(before && differs(before), record, entry)
    return before !== undefined
  }

  return {
    getSite: async (id) => mapped(await siteTable.get(siteKey(id), false), toSite),
    getDataCentre: async (id) => mapped(await dataCentreTable.get(dataCentreKey(id), false), toDataCentre),

    async createSite({ id, renderingEngine, ...site }, entry) {
      const item = { ...site, ...siteKey(id), features: { renderingEngine } }
      return recordIf(await siteTable.put(item, { condition: 'attribute_not_exists(#id)' }), record, entry)
    },

    renameSite: (id, name, entry) => changeSite(id, { set: { name } }, ({ name: before }) => before !== name, entry),

    setQuota(id, quota, entry) {
      const change = quota === undefined ? { update: 'REMOVE #quota' } : { set: { quota } }
      return changeSite(id, change, ({ quota: before }) => before !== quota, entry)
    },

    removeSite: async (id, entry) => recordIf(await siteTable.remove(siteKey(id)), record, entry),

    async putDataCentre({ id, ...dataCentre }) {
      await dataCentreTable.put({ ...dataCentre, ...dataCentreKey(id) })
    },

    async list() {
      const sites: Site[] = []
      const dataCentres: DataCentre[] = []
      const isDataCentre = (item: SiteItem | DataCentre): item is DataCentre => item.id.startsWith(dataCentrePrefix)
      for await (const item of scan(openTable<SiteItem | DataCentre>(options))) {
        if (item.id === trustKey.id) continue
        if (isDataCentre(item)) dataCentres.push(toDataCentre(item))
        else sites.push(toSite(item))
      }
      sites.sort((a, b) => a.id - b.id)
      dataCentres.sort((a, b) => (a.id < b.id ? -1 : 1))
      return { sites, dataCentres }
    },
  }
}
