import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Grant, hashToken, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'

type Tested = Pick<Stores, 'grants'>

const grant = (details: Partial<Grant> = {}): Grant => ({
  hash: hashToken(newToken()),
  user: 'ann',
  sites: [1001 as SiteId],
  permissions: [],
  expires: 1_900_000_000,
  ...details,
})

const listAll = async ({ grants }: Tested): Promise<Grant[]> => {
  const listed: Grant[] = []
  for await (const each of grants.list()) listed.push(each)
  return listed.toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
}

/** What every store of grants does, whatever it is made of. */
export const describeGrants = ({ name, open }: Hand<Tested>): void => {
  describe(`the grants of tokens: ${name}`, () => {
    let hand: OpenedHand<Tested>
    let grants: Tested['grants']
    beforeAll(async () => {
      hand = await open()
      grants = hand.stores.grants
    })
    afterAll(() => hand.close())

    test.each([
      ['of one site', {}],
      ['of several sites', { sites: [1001, 999_999_999_999_999] as SiteId[] }],
      ['of no site', { sites: [] }],
      ['with a permission', { permissions: ['files'] as const }],
      ['of a user with odd characters', { user: `Ä "b" 'c' 🍐` }],
    ])('%s come back as they were put', async (_, details) => {
      const stored = grant(details)
      await grants.put(stored, [entry])
      expect(await grants.get(stored.hash)).toEqual(stored)
    })

    test('are replaced by what is put under the same hash', async () => {
      const stored = grant()
      await grants.put(stored, [entry])
      await grants.put({ ...stored, sites: [] }, [entry])
      expect(await grants.get(stored.hash)).toEqual({ ...stored, sites: [] })
    })

    test('are not found under another hash', async () => {
      expect(await grants.get(hashToken(newToken()))).toBeUndefined()
    })

    test('are gone for everybody once removed, and removing tells whether they were there', async () => {
      const stored = grant()
      await grants.put(stored, [entry])
      expect(await grants.remove(stored.hash, [entry])).toBe(true)
      expect(await grants.get(stored.hash)).toBeUndefined()
      expect(await hand.connect().grants.get(stored.hash)).toBeUndefined()
      expect(await grants.remove(stored.hash, [entry])).toBe(false)
    })

    test('are all listed, however many there are', async () => {
      const own = await open()
      try {
        expect(await listAll(own.stores)).toEqual([])
        // A page of DynamoDB is 1 MB; these have more.
        const sites = Array.from({ length: 5_000 }, (_, index) => (999_999_999_000_000 + index) as SiteId)
        const stored = Array.from({ length: 30 }, (_, index) => grant({ user: `user ${index}`, sites }))
        for (const each of stored) await own.unrecorded.grants.put(each, [entry])
        expect(await listAll(own.stores)).toEqual(stored.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)))
      } finally {
        await own.close()
      }
    })
  })
}
