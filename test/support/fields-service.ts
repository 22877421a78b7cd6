import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll } from 'vitest'
import { createFieldsHandler } from '../../functions/fields/group.ts'
import { type Grant, hashToken, issueGrant } from '../../lib/access/grants.ts'
import type { SiteId, WebFormId } from '../../lib/core/ids.ts'
import type { Clock } from '../../lib/core/time.ts'
import type { SystemField } from '../../lib/fields/web-forms.ts'
import type { RequestRecord } from '../../lib/http/request.ts'
import { createFieldsDeps } from '../../lib/service/deps.ts'
import { openHandler } from './handlers.ts'
import { entry, unrecorded } from './history.ts'
import { openTableStores, openTestTables } from './tables.ts'

export const ownSite = 1001 as SiteId
/** Another site of this data centre, without the new rendering engine. */
export const plainSite = 1002 as SiteId
export const distantSite = 2001 as SiteId

export const baseUrls = { us: 'https://us.example.com', eu: 'https://eu.example.com' } as const

/** The time at which tests begin by default, in epoch milliseconds. */
export const beginning = Date.UTC(2026, 0, 1)

/** Durations are real, but the wall clock does not advance. */
const stopped: Clock = { wall: () => beginning, monotonic: () => performance.now() }

/** Requests per second. */
interface RequestLimits {
  readonly requestsPerToken?: number
  readonly requestsPerSite?: number
}

/** The Lambda function for fields, with a directory of three sites in two data centres, for the cases of one file. */
export const openFieldsService = async () => {
  const tables = await openTestTables()
  afterAll(() => tables.close())
  const storesOver = (dynamodb: DynamoDBDocumentClient) =>
    openTableStores(tables.names, { dynamodb, record: unrecorded })
  const { sites, grants, webForms, contents, links } = storesOver(tables.connect())
  const settings = { dataCentre: 'us', longestList: 20_000 }

  for (const [id, url] of Object.entries(baseUrls)) await sites.putDataCentre({ id, url, isDefault: id === 'us' })
  await sites.createSite({ id: ownSite, name: 'Own', dataCentre: 'us', renderingEngine: true }, entry)
  await sites.createSite({ id: plainSite, name: 'Plain', dataCentre: 'us', renderingEngine: false }, entry)
  await sites.createSite({ id: distantSite, name: 'Distant', dataCentre: 'eu', renderingEngine: true }, entry)

  let lastForm = 0

  return {
    categories: { contents, links },

    /** A fresh instance of the function, with empty caches. */
    start(clock: Clock = stopped, limits: RequestLimits = {}) {
      const own = tables.connect()
      const records: RequestRecord[] = []
      const telemetry = { request: (record: RequestRecord) => void records.push(record) }
      const stores = storesOver(own)
      const deps = createFieldsDeps({ ...settings, ...limits }, stores, { telemetry, clock })
      const categoriesHandler = openHandler.categories(settings, stores, { telemetry, clock })
      return { handler: createFieldsHandler(deps), categoriesHandler, stores, deps, records, dynamodb: own }
    },

    async issueToken(grant: Partial<Omit<Grant, 'hash'>> = {}): Promise<string> {
      const expires = beginning / 1000 + 3600
      const issued = { user: 'ann', sites: [ownSite], permissions: [], expires, ...grant }
      return (await issueGrant(grants, issued)).token
    },

    async revokeToken(token: string): Promise<void> {
      await grants.remove(hashToken(token), [])
    },

    /** Creates a web form on a site. Returns the path of its fields. */
    async createForm(fields: readonly SystemField[] = [], site = ownSite): Promise<string> {
      lastForm += 1
      await webForms.create({ site, id: lastForm as WebFormId, name: `Form ${lastForm}`, fields }, entry)
      return `/api/v1/admin/sites/${site}/webforms/${lastForm}/fields/system`
    },

    async storedFields(path: string): Promise<readonly SystemField[] | undefined> {
      const [, site, form] = /sites\/(\d+)\/webforms\/(\d+)/.exec(path) ?? []
      return (await webForms.get(Number(site) as SiteId, Number(form) as WebFormId))?.fields
    },
  }
}
