import { expect, test } from 'vitest'
import { hashToken, type Key, newToken } from '../../../lib/access/grants.ts'
import { addIssuer } from '../../../lib/access/issuers/issuers.ts'
import type { Person, SiteEntry } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { describeOn, handsOfPorts, ownSite as site } from '../../support/hands.ts'
import { testPerson } from '../../support/people.ts'

const owner: SiteEntry = { role: 'owner' }
const at = (entry: SiteEntry) => ({ [site]: entry }) as Person['sites']
const person = (own: string, details: Partial<Person> = {}) =>
  testPerson({ name: `${own}.${site}`, sites: at(owner), ...details })
const entry = () => ({ site, type: 'user.changed', subject: 'user/ann', actor: 'bob' }) as const

describeOn({ kinds: handsOfPorts, subject: 'people' }, (hand) => {
  const { people, history } = hand.stores
  const recorded = async () => (await history.after(site, 0, 100)).length

  test('A name is unique whatever its case, even for concurrent callers (A-52)', async () => {
    const create = (name: string) => hand.connect().people.create(person(name), [entry()])
    const outcomes = await Promise.all(['ann', 'ANN', 'Ann'].map(create))
    expect(outcomes.toSorted()).toEqual([false, false, true])
    expect(await recorded()).toBe(1)
  })

  test.each(['viewer', 'owner'] as const)('A change of a newer %s than the one that was read fails', async (role) => {
    const before = person('ann', { sites: at({ role }) })
    for (const one of [before, person('boss')]) await people.create(one, [])
    const changed = { ...before, displayName: 'Changed' }
    expect(await people.replace(before, changed, [entry()])).toBe(true)
    expect(await people.replace(before, { ...before, displayName: 'Late' }, [entry()])).toBe(false)
    expect(await people.replace(before, undefined, [entry()])).toBe(false)
    expect(await people.get(before.name)).toEqual({ ...changed, version: 2 })
    expect(await recorded()).toBe(1)
  })

  test('A new person with the name of a removed person is another person', async () => {
    const [before, boss] = [person('ann'), person('boss')]
    for (const one of [before, boss]) await people.create(one, [])
    expect(await people.replace(before, undefined, [entry()])).toBe(true)
    expect(await people.get(before.name)).toBeUndefined()
    const next = { ...before, created: before.created + 1 }
    expect(await people.create(next, [])).toBe(true)
    expect(await people.replace(before, undefined, [])).toBe(false)
    expect(await people.get(before.name)).toEqual(next)
  })

  test('Removing a site removes its people without another site (A-60)', async () => {
    const other = { [Number(`${site}00`)]: owner } as Person['sites']
    await people.create(person('ann'), [])
    await people.create(person('bob', { sites: { ...at(owner), ...other } }), [])
    await people.leaveSite(site)
    expect(await people.get(`ann.${site}`)).toBeUndefined()
    expect((await people.get(`bob.${site}`))?.sites).toEqual(other)
  })
})

const lastOwner = { code: 101012 }

describeOn({ kinds: handsOfPorts, subject: 'owners of sites' }, (hand) => {
  const { people } = hand.stores

  test('An owner of several sites leaves only if each keeps an owner (A-58)', async () => {
    const [second, third] = [1, 2].map((digit) => Number(`${site}0${digit}`) as SiteId) as [SiteId, SiteId]
    const of = (...sites: readonly SiteId[]) => Object.fromEntries(sites.map((one) => [one, owner])) as Person['sites']
    const boss = person('boss', { sites: of(site, second, third) })
    const others = [person('ann', { sites: of(site, second) }), person('bob', { sites: of(third) })]
    for (const one of [boss, ...others]) await people.create(one, [])
    const listed = (await people.listOfSites(site, second, third)).map(({ name }) => name)
    expect(listed).toEqual(['ann', 'bob', 'boss'].map((name) => `${name}.${site}`))
    expect(await people.listOfSites()).toEqual([])
    for (const other of others) {
      await people.replace(other, { ...other, disabled: true }, [])
      await expect(people.replace(boss, undefined, [])).rejects.toMatchObject(lastOwner)
      await people.replace({ ...other, version: 2 }, other, [])
    }
    expect(await people.replace(boss, undefined, [])).toBe(true)
  })

  test('An owner who is only invited does not replace an owner who can sign in (A-58)', async () => {
    const invitation = { hash: 'ff', expires: 1_900_000_000 }
    const owners = [
      person('ann', { password: '$argon2id$' }),
      person('bob', { identities: ['ff'] }),
      person('eve', { invitation }),
      person('joe', { invitation }),
    ]
    const outcomes: unknown[] = []
    for (const one of owners) await people.create(one, [])
    for (const one of owners) outcomes.push(await people.replace(one, undefined, []).catch(({ code }) => code))
    expect(outcomes).toEqual([true, lastOwner.code, true, true])
  })

  const losses: Readonly<Record<string, (before: Person) => Person | undefined>> = {
    removed: () => undefined,
    demoted: (before) => ({ ...before, sites: at({ role: 'editor' }) }),
    disabled: (before) => ({ ...before, disabled: true }),
    'taken from the site': (before) => ({ ...before, sites: {} }),
  }

  test.each(Object.entries(losses))('If the last two owners are %s at once, one stays (A-58)', async (_, lose) => {
    const both = [person('ann'), person('bob')]
    for (const one of both) await people.create(one, [])
    const changes = both.map((one) => hand.connect().people.replace(one, lose(one), []))
    expect(await Promise.all(changes.map((change) => change.catch(({ code }) => code)))).toContain(lastOwner.code)
    const left = await people.listOfSites(site)
    expect(left.filter((one) => !one.disabled).map((one) => one.sites[site])).toContainEqual(owner)
  })
})

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
    expect(await grants.change(key.hash, (present) => ({ ...present, user: 'bob', since: 7 }), [entry()])).toBe(false)
    expect(await keysOf(site)).toEqual([])
    expect(await grants.get(key.hash)).toBeUndefined()
    const listed = await grants.list()
    expect(listed.filter(({ hash }) => hash.includes(key.hash))).toEqual([])
  })

  test('A key that gets another owner keeps the day of its last use (A-89)', async () => {
    const key = newKey()
    await grants.put(key, [])
    await grants.recordUse(key, '2026-01-31')
    expect(await grants.change(key.hash, (present) => ({ ...present, user: 'bob', since: 7 }), [entry()])).toBe(true)
    expect(await keysOf(site)).toEqual([{ ...key, user: 'bob', since: 7, lastUsed: '2026-01-31' }])
  })
})

let now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
describeOn({ kinds: handsOfPorts, subject: 'values and issuers', clock }, (hand) => {
  const { accessValues, issuers } = hand.stores
  const soon = () => Math.floor(now / 1000) + 60

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
    expect(await hand.connect().accessValues.get('three')).toBe('first')
  })

  test('If 20 callers store a value under the same key at once, one of them succeeds', async () => {
    const ends = soon()
    const puts = Array.from({ length: 20 }, (_, index) => accessValues.put('four', `value ${index}`, ends))
    expect((await Promise.all(puts)).filter(Boolean)).toHaveLength(1)
    const taken = await Promise.all(Array.from({ length: 20 }, () => accessValues.take('four')))
    expect(taken.filter((value) => value !== undefined)).toHaveLength(1)
  })

  test('Concurrent changes of the issuers are all stored', async () => {
    const ids = ['a', 'b', 'c']
    const add = (id: string) =>
      issuers.changeTrust((trust) => addIssuer(trust, { id, url: `https://${id}.example.com`, audience: 'x' }), [])
    await Promise.all(ids.map(add))
    expect((await hand.connect().issuers.trust()).issuers.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
  })
})
