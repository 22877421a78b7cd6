import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SiteId } from '../../../lib/ids.ts'
import type { Site } from '../../../lib/sites/site.ts'
import { createSitesTable, type SitesTable } from '../../../lib/sites/sites-table.ts'
import { openTestTables, type TestTables } from '../../support/tables.ts'

let tables: TestTables
let sites: SitesTable

beforeAll(async () => {
  tables = await openTestTables()
  sites = createSitesTable(tables.connect(), tables.names.sites)
})
afterAll(() => tables.close())

const site = (id: number, renderingEngine = true): Site => ({
  id: id as SiteId,
  name: `Site ${id}`,
  dataCentre: 'us',
  renderingEngine,
})

const us = { id: 'us', url: 'https://us.example.com', isDefault: true }

describe('the directory of sites', () => {
  test('gives back a site as it was made', async () => {
    expect(await sites.createSite(site(1001))).toBe(true)
    expect(await sites.createSite(site(1002, false))).toBe(true)
    expect(await sites.getSite(1001 as SiteId)).toEqual(site(1001))
    expect(await sites.getSite(1002 as SiteId)).toEqual(site(1002, false))
  })

  test('knows no site that was not made', async () => {
    expect(await sites.getSite(9999 as SiteId)).toBeUndefined()
  })

  test('makes no site over one that is there', async () => {
    await sites.createSite(site(1003))
    expect(await sites.createSite({ ...site(1003), name: 'Another' })).toBe(false)
    expect(await sites.getSite(1003 as SiteId)).toEqual(site(1003))
  })

  test('gives back a data centre as it was put last', async () => {
    await sites.putDataCentre({ ...us, url: 'https://old.example.com' })
    await sites.putDataCentre(us)
    expect(await sites.getDataCentre('us')).toEqual(us)
    expect(await sites.getDataCentre('eu')).toBeUndefined()
  })

  test('lists sites by number and data centres by name', async () => {
    const own = await openTestTables()
    try {
      const directory = createSitesTable(own.connect(), own.names.sites)
      expect(await directory.list()).toEqual({ sites: [], dataCentres: [] })
      for (const id of [20, 3, 100]) await directory.createSite(site(id))
      await directory.putDataCentre(us)
      await directory.putDataCentre({ ...us, id: 'eu', isDefault: false })
      expect(await directory.list()).toEqual({
        sites: [site(3), site(20), site(100)],
        dataCentres: [{ ...us, id: 'eu', isDefault: false }, us],
      })
    } finally {
      await own.close()
    }
  })
})
