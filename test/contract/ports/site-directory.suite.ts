import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import type { Site } from '../../../lib/sites/site-directory.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'

type Tested = Pick<Stores, 'sites'>

const site = (id: number, renderingEngine = true): Site => ({
  id: id as SiteId,
  name: `Site ${id}`,
  dataCentre: 'us',
  renderingEngine,
})

const us = { id: 'us', url: 'https://us.example.com', isDefault: true }

/** What every directory of sites does, whatever it is made of. */
export const describeSiteDirectory = ({ name, open }: Hand<Tested>): void => {
  describe(`the directory of sites: ${name}`, () => {
    let hand: OpenedHand<Tested>
    let sites: Tested['sites']
    beforeAll(async () => {
      hand = await open()
      sites = hand.stores.sites
    })
    afterAll(() => hand.close())

    test('gives back a site as it was made, to every connection', async () => {
      expect(await sites.createSite(site(1001), entry)).toBe(true)
      expect(await sites.createSite(site(1002, false), entry)).toBe(true)
      expect(await sites.getSite(1001 as SiteId)).toEqual(site(1001))
      expect(await hand.connect().sites.getSite(1002 as SiteId)).toEqual(site(1002, false))
    })

    test('knows no site that was not made', async () => {
      expect(await sites.getSite(9999 as SiteId)).toBeUndefined()
    })

    test('makes no site over one that is there', async () => {
      await sites.createSite(site(1003), entry)
      expect(await sites.createSite({ ...site(1003), name: 'Another' }, entry)).toBe(false)
      expect(await sites.getSite(1003 as SiteId)).toEqual(site(1003))
    })

    test('makes a site once when several make it at once', async () => {
      const made = await Promise.all(Array.from({ length: 10 }, () => sites.createSite(site(1004), entry)))
      expect(made.filter(Boolean)).toHaveLength(1)
    })

    test('takes the largest id, and a name of any characters', async () => {
      const odd = { ...site(999_999_999_999_999), name: `Ä "b" 'c' 🍐 \u{ffff} ${'x'.repeat(1_000)}` }
      await sites.createSite(odd, entry)
      expect(await sites.getSite(odd.id)).toEqual(odd)
    })

    test('gives back a data centre as it was put last, with and without a region', async () => {
      await sites.putDataCentre({ ...us, url: 'https://old.example.com', region: 'us-east-1' })
      expect(await sites.getDataCentre('us')).toMatchObject({ region: 'us-east-1' })
      await sites.putDataCentre(us)
      expect(await sites.getDataCentre('us')).toEqual(us)
      expect(await sites.getDataCentre('eu')).toBeUndefined()
    })

    test('lists sites by number and data centres by name', async () => {
      const own = await open()
      try {
        const directory = own.stores.sites
        expect(await directory.list()).toEqual({ sites: [], dataCentres: [] })
        for (const id of [20, 3, 100]) await directory.createSite(site(id), entry)
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

    test('lists every site, however many there are', async () => {
      const own = await open()
      try {
        // A page of DynamoDB is 1 MB; these have 1.2 MB.
        const long = Array.from({ length: 40 }, (_, index) => ({ ...site(index + 1), name: 'x'.repeat(30_000) }))
        for (const each of long) await own.unrecorded.sites.createSite(each, entry)
        const { sites: listed } = await own.stores.sites.list()
        expect(listed.map(({ id }) => id)).toEqual(long.map(({ id }) => id))
      } finally {
        await own.close()
      }
    })
  })
}
