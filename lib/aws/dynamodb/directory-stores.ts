import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb'
import { type Grant, type Grants, storedGrant } from '../../access/grants.ts'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import { openTable, type TableOptions } from './dynamodb.ts'
import type { RecordChange } from './journal.ts'

/** For functions: only commands may change sites and tokens. */
export const withoutHistory: RecordChange = async () => {}

interface DirectoryOptions extends TableOptions {
  // Writes to the history in the site's own data centre.
  readonly record: RecordChange
}

const mostAttempts = 5

async function* scan(client: DynamoDBDocumentClient, TableName: string) {
  for await (const page of paginateScan({ client }, { TableName })) yield* page.Items ?? []
}

/** The global table Tokens: one item for each grant. */
export const createGrants = ({ record, ...options }: DirectoryOptions): Grants => {
  const table = openTable(options)
  return {
    async get(hash) {
      const item = await table.get({ hash }, false)
      return item && storedGrant(item)
    },

    async uncover(hash, site, entry) {
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const item = await table.get({ hash })
        const sites = item && storedGrant(item).sites
        if (!sites?.includes(site)) return false
        const others = sites.filter((other) => other !== site)
        // Nothing adds sites to a token, so an equal count means equal sites.
        const condition = 'contains(#sites, :site) AND size(#sites) = :count'
        const values = { ':site': site, ':count': sites.length }
        const update = 'SET #sites = :others'
        const isDone =
          others.length === 0
            ? await table.delete({ hash }, { condition, values })
            : await table.update({ hash }, { update, condition, values: { ...values, ':others': others } })
        if (!isDone) continue
        await record(entry)
        return true
      }
      throw new ServiceError('unavailable')
    },

    async put(grant, entries) {
      await table.put({ ...grant } satisfies Record<keyof Grant, unknown>)
      for (const entry of entries) await record(entry)
    },

    async remove(hash, entries) {
      if (!(await table.take({ hash }))) return false
      for (const entry of entries) await record(entry)
      return true
    },

    async *list() {
      for await (const item of scan(table.client, table.name)) yield storedGrant(item)
    },
  }
}

const siteKey = (id: SiteId) => ({ id: String(id) })
const dataCentreKey = (id: string) => ({ id: `dc#${id}` })

interface SiteItem {
  id: string
  name: string
  dataCentre: string
  features: { renderingEngine: boolean }
}

interface DataCentreItem {
  id: string
  url: string
  isDefault: boolean
  region?: string
}

const toSite = ({ id, name, dataCentre, features }: SiteItem): Site => ({
  id: storedId(id),
  name,
  dataCentre,
  renderingEngine: features.renderingEngine,
})

const toDataCentre = ({ id, url, isDefault, region }: DataCentreItem): DataCentre => ({
  id: id.slice('dc#'.length),
  url,
  isDefault,
  ...(region !== undefined && { region }),
})

/** The global table Sites: sites and data centres. */
export const createSiteDirectory = ({ record, ...options }: DirectoryOptions): SiteDirectory => {
  const table = openTable(options)
  return {
    async getSite(id) {
      const item = await table.get(siteKey(id), false)
      return item && toSite(item as unknown as SiteItem)
    },

    async getDataCentre(id) {
      const item = await table.get(dataCentreKey(id), false)
      return item && toDataCentre(item as unknown as DataCentreItem)
    },

    async createSite({ id, name, dataCentre, renderingEngine }, entry) {
      const item: SiteItem = { ...siteKey(id), name, dataCentre, features: { renderingEngine } }
      if (!(await table.put(item, { condition: 'attribute_not_exists(#id)' }))) return false
      await record(entry)
      return true
    },

    async renameSite(id, name, entry) {
      const before = await table.update(siteKey(id), {
        update: 'SET #name = :name',
        condition: 'attribute_exists(#id)',
        values: { ':name': name },
        returns: 'UPDATED_OLD',
      })
      if (before && before['name'] !== name) await record(entry)
      return before !== undefined
    },

    async removeSite(id, entry) {
      if (!(await table.take(siteKey(id)))) return false
      await record(entry)
      return true
    },

    async putDataCentre({ id, ...dataCentre }) {
      await table.put({ ...dataCentre, ...dataCentreKey(id) } satisfies DataCentreItem)
    },

    async list() {
      const sites: Site[] = []
      const dataCentres: DataCentre[] = []
      for await (const item of scan(table.client, table.name)) {
        if (String(item['id']).startsWith('dc#')) dataCentres.push(toDataCentre(item as DataCentreItem))
        else sites.push(toSite(item as SiteItem))
      }
      sites.sort((a, b) => a.id - b.id)
      dataCentres.sort((a, b) => (a.id < b.id ? -1 : 1))
      return { sites, dataCentres }
    },
  }
}
