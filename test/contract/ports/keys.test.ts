import { expect, test } from 'vitest'
import { hashToken, type Key, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { describeOn, entry, handsOfPorts, ownSite as site } from '../../support/hands.ts'

describeOn({ kinds: handsOfPorts, subject: 'keys' }, (hand) => {
  const { grants } = hand.stores

  const newKey = (details: Partial<Key> = {}): Key => ({
    hash: hashToken(newToken()),
    kind: 'key',
    user: 'ann',
    since: 1_764_000_000_000,
    name: 'Ä "b" 🍐',
    sites: [site],
    permissions: ['files:write:/a b'],
    expires: 1_900_000_000,
    ...details,
  })
  const keysOf = async (of: SiteId) =>
    (await hand.connect().grants.keysOf(of)).toSorted((a, b) => (a.hash < b.hash ? -1 : 1))

  test('A long list of keys is complete', async () => {
    const keys = Array.from({ length: 130 }, () => newKey())
    for (const key of keys) await grants.put(key, [])
    expect(await keysOf(site)).toEqual(keys.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)))
    const listed = (await grants.list()).map(({ hash }) => hash)
    expect(listed).toEqual(listed.toSorted())
  })

  test('The day of the last use is kept, and an earlier day changes nothing (A-88)', async () => {
    const key = newKey()
    await grants.put(key, [])
    for (const day of ['2026-01-31', '2026-01-31', '2026-02-01']) await grants.recordUse(key, day)
    await hand.connect().grants.recordUse(key, '2026-01-31')
    expect(await keysOf(site)).toEqual([{ ...key, lastUsed: '2026-02-01' }])
    expect(await grants.get(key.hash)).toEqual(key)
  })

  test('Neither a use nor another owner restores a revoked key (A-13)', async () => {
    const key = newKey()
    await grants.put(key, [])
    await grants.remove(key.hash, [])
    await grants.recordUse(key, '2026-01-31')
    expect(await grants.change(key.hash, (present) => ({ ...present, user: 'bob', since: 7 }), [entry])).toBe(false)
    expect(await keysOf(site)).toEqual([])
    expect(await grants.get(key.hash)).toBeUndefined()
    const listed = await grants.list()
    expect(listed.filter(({ hash }) => hash.includes(key.hash))).toEqual([])
  })

  test('A key that gets another owner keeps the day of its last use (A-89)', async () => {
    const key = newKey()
    await grants.put(key, [])
    await grants.recordUse(key, '2026-01-31')
    expect(await grants.change(key.hash, (present) => ({ ...present, user: 'bob', since: 7 }), [entry])).toBe(true)
    expect(await keysOf(site)).toEqual([{ ...key, user: 'bob', since: 7, lastUsed: '2026-01-31' }])
  })
})
