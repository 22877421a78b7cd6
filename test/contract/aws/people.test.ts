import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { type Person, personEntries, sitesOfPerson, updatePerson, withoutSite } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { aroundCommands, beforeCalls, watchCalls } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

const site = 1001 as SiteId
const otherSite = 1002 as SiteId
const at = (role: 'owner' | 'editor') => ({ [site]: { role } }) as Person['sites']

/** The returned function resolves when both callers have called it. `last` runs before. */
const meet = (last: () => Promise<unknown> = async () => undefined) => {
  const both = Promise.withResolvers<unknown>()
  let arrived = 0
  return async () => {
    arrived += 1
    if (arrived === 2) await last().then(both.resolve, both.reject)
    await both.promise
  }
}

test('Two owners who demote each other stay, with what others change (A-58)', async () => {
  const tables = openMemoryTables()
  const open = (dynamodb: DynamoDBDocumentClient) => openTableStores(tables.names, { dynamodb }).people
  const people = open(tables.connect())
  const sites: Person['sites'] = { ...at('owner'), [otherSite]: { role: 'editor' } }
  const owners = ['ann', 'bob'].map((name) => testPerson({ name, sites }))
  for (const one of owners) await people.create(one, [])

  const lastSignIn = '2026-01-31'
  const changeMeanwhile = ({ name }: Person) =>
    updatePerson(people, name, (person) => {
      const left = withoutSite(person, otherSite)
      return { after: left && { ...left, lastSignIn, disabled: name === 'ann' } }
    })
  const beforeWrite = meet()
  const beforeLastCount = meet(() => Promise.all(owners.map(changeMeanwhile)))
  const demote = async (one: Person) => {
    const client = tables.connect()
    let counts = 0
    aroundCommands(client, 'call', async (send, { name }) => {
      if (name.startsWith('Scan')) counts += 1
      if (name.startsWith('Put') && counts === 1) await beforeWrite()
      if (name.startsWith('Scan') && counts === 2) await beforeLastCount()
      return send()
    })
    return open(client).replace(one, { ...one, sites: { ...sites, ...at('editor') } }, [])
  }

  expect(await Promise.all(owners.map(demote))).toEqual(['last owner', 'last owner'])
  const kept = await Promise.all(owners.map(({ name }) => people.get(name)))
  expect(kept.map((person) => person?.sites)).toEqual([at('owner'), at('owner')])
  expect(kept).toMatchObject([
    { disabled: true, lastSignIn },
    { disabled: false, lastSignIn },
  ])
})

test('A new person with the name of a removed owner is no owner (A-53, A-58)', async () => {
  const tables = openMemoryTables()
  const [client, others] = [tables.connect(), openTableStores(tables.names, { dynamodb: tables.connect() }).people]
  const { people } = openTableStores(tables.names, { dynamodb: client })
  const ann = testPerson({ sites: at('owner') })
  const editor = { ...ann, sites: at('editor') }
  for (const one of [ann, { ...ann, name: 'bob' }]) await people.create(one, [])
  const newAnn = { ...editor, created: ann.created + 1 }
  let counts = 0
  beforeCalls(client, 'ScanCommand', async () => {
    counts += 1
    if (counts !== 2) return
    await others.leaveSite(site)
    await updatePerson(others, 'ann', () => ({ after: undefined }))
    await others.create(newAnn, [])
  })
  expect(await people.replace(ann, editor, [])).toBe('last owner')
  expect(await people.get('ann')).toMatchObject({ created: newAnn.created, sites: at('editor') })
})

test('If the owners cannot be counted again, no owner changes (A-58, E-16)', async () => {
  const ann = testPerson({ sites: at('owner') })
  const entries = personEntries('user.changed', ann, { actor: 'cat' }, [site])
  for (const after of [undefined, { ...ann, sites: at('editor') }]) {
    const tables = openMemoryTables()
    const client = tables.connect()
    const { people, history } = openTableStores(tables.names, { dynamodb: client })
    for (const one of [ann, { ...ann, name: 'bob' }]) await people.create(one, [])
    let counts = 0
    beforeCalls(client, 'ScanCommand', async () => {
      counts += 1
      if (counts === 2) throw new Error('No answer')
    })
    await expect(people.replace(ann, after, entries)).rejects.toThrow()
    const present = await people.get('ann')
    expect(present?.sites).toEqual(at('owner'))
    expect(present && (await people.replace(present, after, entries))).toBe('done')
    expect(await history.after(site, 0, 10)).toHaveLength(1)
  }
})

test('The removal of an owner of 300 sites reads all people twice (A-58, A-60)', async () => {
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
  expect(await removing.replace(owner, undefined, entries)).toBe('done')
  expect(calls.filter((name) => name === 'ScanCommand')).toHaveLength(2)
  const recorded = await Promise.all(sitesOfPerson(owner).map((one) => history.after(one, 0, 10)))
  expect(recorded.every(({ length }) => length === 1)).toBe(true)
})
