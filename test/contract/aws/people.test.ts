import { expect, test } from 'vitest'
import { type Person, personEntries, sitesOfPerson, updatePerson } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { aroundCommands, beforeCalls, watchCalls } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

const site = 1001 as SiteId
const at = (role: 'owner' | 'editor') => ({ [site]: { role } }) as Person['sites']

/** Ann and Bob own the site. Each caller has its own connection. */
const openWithOwners = async (now?: () => number) => {
  const tables = openMemoryTables()
  const connect = (client = tables.connect()) => openTableStores(tables.names, { dynamodb: client, now })
  const [ann, bob] = ['ann', 'bob'].map((name) => testPerson({ name, sites: at('owner') })) as [Person, Person]
  const { people } = connect()
  for (const one of [ann, bob]) await people.create(one, [])
  return { ann, bob, people, connect, client: tables.connect() }
}
const demoted = (person: Person): Person => ({ ...person, sites: at('editor') })

test('A change of an owner who is leaving is kept, and the owner does not leave (A-58)', async () => {
  const { ann, connect, client } = await openWithOwners()
  const { people } = connect()
  const displayName = 'Ann the second'
  beforeCalls(client, 'ScanCommand', async () => {
    await updatePerson(people, 'ann', (before) => ({ after: { ...before, displayName } }))
  })
  expect(await connect(client).people.replace(ann, demoted(ann), [])).toBe(false)
  expect(await people.get('ann')).toMatchObject({ displayName, sites: at('owner') })
})

test('90 seconds after a request breaks off, the other owner can leave (A-58)', async () => {
  let now = Date.now()
  const { ann, bob, connect, client } = await openWithOwners(() => now)
  let puts = 0
  aroundCommands(client, 'call', async (send, { name }) => {
    if (name.startsWith('Scan') || (name.startsWith('Put') && puts++ > 0)) throw new Error('Broken off')
    return send()
  })
  await expect(connect(client).people.replace(ann, undefined, [])).rejects.toThrow()
  const { people } = connect()
  await expect(people.replace(bob, undefined, [])).rejects.toMatchObject({ code: 101012 })
  now += 90_000
  expect(await people.replace(bob, undefined, [])).toBe(true)
})

test('An owner cannot leave after a newer request to leave has ended (A-58)', async () => {
  const { ann, bob, people, connect, client } = await openWithOwners()
  const leave = () => connect(client).people.replace(ann, demoted(ann), [])
  let counts = 0
  aroundCommands(client, 'call', async (send, { name }) => {
    if (name !== 'ScanCommand') return send()
    counts += 1
    if (counts === 2) throw new Error('Broken off')
    const counted = await send()
    await expect(leave()).rejects.toThrow('Broken off')
    expect(await people.replace(bob, undefined, [])).toBe(true)
    return counted
  })
  expect(await leave()).toBe(false)
  expect(await people.get('ann')).toMatchObject({ sites: at('owner') })
})

test('A new person with the name of a removed owner is no owner (A-53, A-58)', async () => {
  const { ann, people, connect, client } = await openWithOwners()
  const newAnn = { ...demoted(ann), created: ann.created + 1 }
  let counts = 0
  beforeCalls(client, 'ScanCommand', async () => {
    counts += 1
    if (counts > 1) return
    await people.leaveSite(site)
    await updatePerson(people, 'ann', () => ({ after: undefined }))
    await people.create(newAnn, [])
  })
  await expect(connect(client).people.replace(ann, demoted(ann), [])).rejects.toMatchObject({ code: 101012 })
  expect(await people.get('ann')).toMatchObject({ created: newAnn.created, sites: at('editor') })
})

test('If the owners cannot be counted, no owner changes (A-58, E-16)', async () => {
  for (const leave of [() => undefined, demoted]) {
    const { ann, connect, client } = await openWithOwners()
    const { people, history } = connect(client)
    const [after, entries] = [leave(ann), personEntries('user.changed', ann, { actor: 'cat' }, [site])]
    let counts = 0
    beforeCalls(client, 'ScanCommand', async () => {
      counts += 1
      if (counts === 1) throw new Error('No answer')
    })
    await expect(people.replace(ann, after, entries)).rejects.toThrow()
    const present = await people.get('ann')
    expect(present?.sites).toEqual(at('owner'))
    expect(present && (await people.replace(present, after, entries))).toBe(true)
    expect(await history.after(site, 0, 10)).toHaveLength(1)
  }
})

test('The removal of an owner of 300 sites reads all people once (A-58, A-60)', async () => {
  const tables = openMemoryTables()
  const { people } = openTableStores(tables.names, { dynamodb: tables.connect() })
  const entry = { role: 'owner' } as const
  const sites = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [index + 1, entry]))
  const owner = testPerson({ sites: sites as Person['sites'] })
  for (const one of [owner, { ...owner, name: 'bob' }]) await people.create(one, [])
  const client = tables.connect()
  const calls = watchCalls(client)
  const { people: removing, history } = openTableStores(tables.names, { dynamodb: client })
  const entries = personEntries('user.removed', owner, { actor: 'cat' }, sitesOfPerson(owner))
  expect(await removing.replace(owner, undefined, entries)).toBe(true)
  expect(calls.filter((name) => name === 'ScanCommand')).toHaveLength(1)
  const recorded = await Promise.all(sitesOfPerson(owner).map((one) => history.after(one, 0, 10)))
  expect(recorded.every(({ length }) => length === 1)).toBe(true)
})
