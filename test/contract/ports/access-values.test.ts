import { describe, expect, test } from 'vitest'
import { addIssuer } from '../../../lib/access/issuers/issuers.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { describeOn, handsOfPorts } from '../../support/hands.ts'

let now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
describeOn({ kinds: handsOfPorts, subject: 'values and issuers', clock }, (hand) => {
  const { accessValues, grants, history, issuers, sites } = hand.stores
  const soon = () => Math.floor(now / 1000) + 60

  test('Every connection finds a value until one of them takes the value', async () => {
    expect(await accessValues.put('one', 'first', soon())).toBe(true)
    expect(await hand.connect().accessValues.get('one')).toBe('first')
    expect(await hand.connect().accessValues.take('one')).toBe('first')
    expect(await accessValues.take('one')).toBeUndefined()
    expect(await accessValues.get('one')).toBeUndefined()
  })

  test('A value stays under its key until the value expires', async () => {
    expect(await accessValues.put('two', 'first', soon())).toBe(true)
    expect(await accessValues.put('two', 'second', soon())).toBe(false)
    expect(await accessValues.put('two', 'first', soon())).toBe(true)
    now += 61_000
    expect(await accessValues.get('two')).toBeUndefined()
    expect(await accessValues.put('two', 'second', soon())).toBe(true)
    now += 61_000
    expect(await accessValues.take('two')).toBeUndefined()
  })

  test('A value without an expiry stays', async () => {
    await accessValues.put('three', 'first')
    now += 400 * 24 * 3600 * 1000
    expect(await accessValues.put('three', 'second')).toBe(false)
    expect(await accessValues.get('three')).toBe('first')
  })

  test('If 20 callers store a value under the same key at once, one of them succeeds', async () => {
    const ends = soon()
    const puts = Array.from({ length: 20 }, (_, index) => accessValues.put('four', `value ${index}`, ends))
    expect((await Promise.all(puts)).filter(Boolean)).toHaveLength(1)
    const taken = await Promise.all(Array.from({ length: 20 }, () => accessValues.take('four')))
    expect(taken.filter((value) => value !== undefined)).toHaveLength(1)
  })

  test('The lists of tokens and sites do not contain the values', async () => {
    await accessValues.put('five', 'value', soon())
    await issuers.changeTrust((trust) => ({ ...trust }), [])
    expect(await grants.list()).toEqual([])
    expect(await sites.list()).toEqual({ sites: [], dataCentres: [] })
  })

  describe('issuers', () => {
    const issuer = { id: 'work', url: 'https://login.example.com', audience: 'site-admin' }

    test('Issuers are read back as stored, and each change writes history entries', async () => {
      const before = await issuers.trust()
      const entry = { site: 7 as SiteId, type: 'issuer.created', subject: 'issuer/work', actor: 'ann' } as const
      await issuers.changeTrust((trust) => addIssuer(trust, issuer), [entry])
      expect(await hand.connect().issuers.trust()).toEqual(addIssuer(before, issuer))
      expect(await history.after(entry.site, 0, 10)).toMatchObject([entry])
    })

    test('Concurrent changes are all stored', async () => {
      const ids = ['a', 'b', 'c']
      const add = (id: string) =>
        issuers.changeTrust((trust) => addIssuer(trust, { ...issuer, id, url: `https://${id}.example.com` }), [])
      await Promise.all(ids.map(add))
      expect((await issuers.trust()).issuers.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
    })
  })
})
