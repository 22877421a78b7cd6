import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { type Grant, type Grants, storedGrant } from '../../access/grants.ts'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import type { Stores } from '../../service/stores.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import { createDocumentClient, isConditionFailure, type TableOptions } from './dynamodb.ts'
import type { RecordChange } from './journal.ts'

interface Options {
  readonly dynamodb: DynamoDBDocumentClient
  readonly sitesTable: string
  readonly tokensTable: string
  /** Where the directory is, when that is not the region of who reads it. */
  readonly directoryRegion?: string
}

/** Of functions, which have no right to change a site or a token: commands do that. */
export const withoutHistory: RecordChange = async () => {}

/** The directory that all data centres share: reached by the client that is given, unless it is in another region. */
export const createDirectoryStores = ({
  dynamodb,
  sitesTable,
  tokensTable,
  directoryRegion,
}: Options): Pick<Stores, 'sites' | 'grants'> => {
  const directory = directoryRegion === undefined ? dynamodb : createDocumentClient({ region: directoryRegion })
  return {
    sites: createSiteDirectory({ dynamodb: directory, table: sitesTable, record: withoutHistory }),
    grants: createGrants({ dynamodb: directory, table: tokensTable, record: withoutHistory }),
  }
}

interface DirectoryOptions extends TableOptions {
  /** Writes into the history of the data centre where the site of an entry lives. */
  readonly record: RecordChange
}

/** How often a change of a grant is tried again that another one has come before. */
const mostAttempts = 5

/** Grants in the global table Tokens: one item for each. */
export const createGrants = ({ dynamodb: client, table, record }: DirectoryOptions): Grants => ({
  async get(hash) {
    const { Item: item } = await client.send(new GetCommand({ TableName: table, Key: { hash } }))
    return item && storedGrant(item)
  },

  async uncover(hash, site, entry) {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const key = { TableName: table, Key: { hash } }
      const { Item: item } = await client.send(new GetCommand({ ...key, ConsistentRead: true }))
      const sites = item && storedGrant(item).sites
      if (!sites?.includes(site)) return false
      const others = sites.filter((other) => other !== site)
      // Nothing adds to the sites of a token: the same number of them are the same.
      const asSeen = {
        ...key,
        ConditionExpression: 'contains(#sites, :site) AND size(#sites) = :count',
        ExpressionAttributeNames: { '#sites': 'sites' },
      }
      const values = { ':site': site, ':count': sites.length }
      const change =
        others.length === 0
          ? client.send(new DeleteCommand({ ...asSeen, ExpressionAttributeValues: values }))
          : client.send(
              new UpdateCommand({
                ...asSeen,
                UpdateExpression: 'SET #sites = :others',
                ExpressionAttributeValues: { ...values, ':others': others },
              }),
            )
      const isDone = await change.then(
        () => true,
        (error: unknown) => {
          if (isConditionFailure(error)) return false
          throw error
        },
      )
      if (!isDone) continue
      await record(entry)
      return true
    }
    throw new ServiceError('unavailable')
  },

  async put(grant, entries) {
    await client.send(new PutCommand({ TableName: table, Item: { ...grant } satisfies Record<keyof Grant, unknown> }))
    for (const entry of entries) await record(entry)
  },

  async remove(hash, entries) {
    const { Attributes } = await client.send(
      new DeleteCommand({ TableName: table, Key: { hash }, ReturnValues: 'ALL_OLD' }),
    )
    if (!Attributes) return false
    for (const entry of entries) await record(entry)
    return true
  },

  async *list() {
    for await (const page of paginateScan({ client }, { TableName: table })) {
      for (const item of page.Items ?? []) yield storedGrant(item)
    }
  },
})

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

/** The directory in the global table Sites. */
export const createSiteDirectory = ({ dynamodb: client, table, record }: DirectoryOptions): SiteDirectory => {
  const get = async (key: { id: string }) => (await client.send(new GetCommand({ TableName: table, Key: key }))).Item

  return {
    async getSite(id) {
      const item = await get(siteKey(id))
      return item && toSite(item as SiteItem)
    },

    async getDataCentre(id) {
      const item = await get(dataCentreKey(id))
      return item && toDataCentre(item as DataCentreItem)
    },

    async createSite({ id, name, dataCentre, renderingEngine }, entry) {
      const item: SiteItem = { ...siteKey(id), name, dataCentre, features: { renderingEngine } }
      try {
        await client.send(
          new PutCommand({ TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(id)' }),
        )
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
      await record(entry)
      return true
    },

    async renameSite(id, name, entry) {
      try {
        const { Attributes } = await client.send(
          new UpdateCommand({
            TableName: table,
            Key: siteKey(id),
            UpdateExpression: 'SET #name = :name',
            ConditionExpression: 'attribute_exists(id)',
            ExpressionAttributeNames: { '#name': 'name' },
            ExpressionAttributeValues: { ':name': name },
            ReturnValues: 'UPDATED_OLD',
          }),
        )
        if (Attributes?.['name'] !== name) await record(entry)
        return true
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
    },

    async removeSite(id, entry) {
      const { Attributes } = await client.send(
        new DeleteCommand({ TableName: table, Key: siteKey(id), ReturnValues: 'ALL_OLD' }),
      )
      if (!Attributes) return false
      await record(entry)
      return true
    },

    async putDataCentre({ id, ...dataCentre }) {
      const item: DataCentreItem = { ...dataCentre, ...dataCentreKey(id) }
      await client.send(new PutCommand({ TableName: table, Item: item }))
    },

    async list() {
      const sites: Site[] = []
      const dataCentres: DataCentre[] = []
      for await (const page of paginateScan({ client }, { TableName: table })) {
        for (const item of page.Items ?? []) {
          if (String(item['id']).startsWith('dc#')) dataCentres.push(toDataCentre(item as DataCentreItem))
          else sites.push(toSite(item as SiteItem))
        }
      }
      sites.sort((a, b) => a.id - b.id)
      dataCentres.sort((a, b) => (a.id < b.id ? -1 : 1))
      return { sites, dataCentres }
    },
  }
}
