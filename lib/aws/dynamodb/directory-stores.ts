import { type Grant, type Grants, isGrantOfKey, type Key } from '../../access/grants.ts'
import { ServiceError } from '../../core/errors.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import { compareText } from '../../core/names.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import { trustKey } from './access.ts'
import { expression, mapped, openTable, queryItems, scan, type Table } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'
import { type RecordChange, type RecordingOptions, recordIf } from './journal.ts'
import { createMark, isOwnWrite, putMarked } from './write-mark.ts'

/** Only commands change sites and tokens. Functions only read them, and so need no history here. */
export const withoutHistory: RecordChange = async () => {}

const mostAttempts = 5

// The last use of a key has its own item. If another data centre writes this item while the key is revoked, the key
// does not come back. Only keys and their uses have a `site`, so only they are in the index. The table also has values,
// and only the hashes of grants have no # in them.
const useOf = (hash: string): string => `used#${hash}`

interface GrantItem extends Grant {
  readonly site?: SiteId | undefined
  readonly mark?: string
}

interface UseItem extends Pick<GrantItem, 'hash' | 'site' | 'expires'> {
  readonly day: string
}

const toGrant = ({ site: _, mark: __, ...grant }: GrantItem): Grant => grant

const readKeys = async (table: Table<GrantItem & Partial<UseItem>>, site: SiteId): Promise<readonly Key[]> => {
  const query = { index: 'keysOfSite', where: expression`#site = ${site}`, columns: ['hash'] }
  const hashes = (await queryItems(table, query)).map(({ hash }) => ({ hash }))
  const items = await batchGet(table, hashes)
  const uses = new Map(items.map(({ hash, day }) => [hash, day === undefined ? {} : { lastUsed: day }]))
  const keys = items.map(toGrant).filter(isGrantOfKey)
  return keys.map((key) => ({ ...key, ...uses.get(useOf(key.hash)) }))
}

export const createGrants = ({ record, ...options }: RecordingOptions): Grants => {
  const table = openTable<GrantItem>(options)
  return {
    get: async (hash, isNewest = true) => mapped(await table.get({ hash }, isNewest), toGrant),

    async change(hash, change, entries) {
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const before = await table.get({ hash })
        const after = before && change(before)
        if (!before || after === before) return false
        // Nothing adds sites to a grant, so an equal number of sites means the same sites.
        const condition = expression`#user = ${before.user} AND size(#sites) = ${before.sites.length}`
        const isChanged = await (after
          ? putMarked(table, { hash }, { ...before, ...after }, condition)
          : table.remove({ hash }, { condition }))
        if (await recordIf(isChanged, record, ...entries)) return true
      }
      throw new ServiceError('unavailable')
    },

    async put(grant, entries) {
      await table.put({ ...grant, ...(isGrantOfKey(grant) && { site: grant.sites[0] }) })
      for (const entry of entries) await record(entry)
    },

    remove: async (hash, entries) => recordIf(await table.remove({ hash }), record, ...entries),

    async list() {
      const grants = await scan(table, (item) => (item.hash.includes('#') ? undefined : toGrant(item)))
      return grants.sort((a, b) => compareText(a.hash, b.hash))
    },

    keysOf: (site) => readKeys(openTable(options), site),

    async recordUse({ hash, sites: [site], expires }, day) {
      const condition = expression`attribute_not_exists(#hash) OR #day < ${day}`
      await openTable<UseItem>(options).put({ hash: useOf(hash), site, day, expires }, { condition })
    },
  }
}

interface SiteItem extends Omit<Site, 'id' | 'renderingEngine'> {
  readonly id: string
  readonly features: Pick<Site, 'renderingEngine'>
  readonly mark?: string
}

const siteKey = (id: SiteId) => ({ id: String(id) })
const dataCentrePrefix = 'dc#'
const dataCentreKey = (id: string) => ({ id: dataCentrePrefix + id })

const toSite = ({ id, name, dataCentre, features: { renderingEngine }, quota }: SiteItem): Site => ({
  id: storedId(id),
  name,
  dataCentre,
  ...(quota !== undefined && { quota }),
  renderingEngine,
})

const toDataCentre = ({ id, ...dataCentre }: DataCentre): DataCentre => ({
  id: id.slice(dataCentrePrefix.length),
  ...dataCentre,
})

export const createSiteDirectory = ({ record, ...options }: RecordingOptions): SiteDirectory => {
  const siteTable = openTable<SiteItem>(options)
  const dataCentreTable = openTable<DataCentre>(options)

  const changeSite = async (id: SiteId, member: 'name' | 'quota', value: unknown, entry: HistoryEntry) => {
    const mark = createMark()
    const change = { set: { mark, [member]: value }, condition: expression`attribute_exists(#id)` }
    const before = await siteTable.update(siteKey(id), { ...change, returns: 'UPDATED_OLD' })
    await recordIf(before && (before[member] !== value || isOwnWrite(mark, before.mark)), record, entry)
    return before !== undefined
  }

  return {
    getSite: async (id) => mapped(await siteTable.get(siteKey(id), false), toSite),
    getDataCentre: async (id) => mapped(await dataCentreTable.get(dataCentreKey(id), false), toDataCentre),

    async createSite({ id, renderingEngine, ...site }, entry) {
      const item = { ...site, ...siteKey(id), features: { renderingEngine } }
      const isCreated = await putMarked(siteTable, siteKey(id), item, expression`attribute_not_exists(#id)`)
      return recordIf(isCreated, record, entry)
    },

    renameSite: (id, name, entry) => changeSite(id, 'name', name, entry),
    setQuota: (id, quota, entry) => changeSite(id, 'quota', quota, entry),
    removeSite: async (id, entry) => recordIf(await siteTable.remove(siteKey(id)), record, entry),

    async putDataCentre({ id, ...dataCentre }) {
      await dataCentreTable.put({ ...dataCentre, ...dataCentreKey(id) })
    },

    async list() {
      const isDataCentre = (item: SiteItem | DataCentre): item is DataCentre => item.id.startsWith(dataCentrePrefix)
      const items = await scan(openTable<SiteItem | DataCentre>(options), (item) =>
        item.id === trustKey.id ? undefined : item,
      )
      const sites = items.flatMap((item) => (isDataCentre(item) ? [] : toSite(item)))
      const dataCentres = items.filter(isDataCentre).map(toDataCentre)
      sites.sort((a, b) => a.id - b.id)
      dataCentres.sort((a, b) => compareText(a.id, b.id))
      return { sites, dataCentres }
    },
  }
}
