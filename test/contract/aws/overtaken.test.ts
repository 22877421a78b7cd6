import { expect, test } from 'vitest'
import { addIssuer } from '../../../lib/access/issuers/issuers.ts'
import { updatePerson } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Upload } from '../../../lib/storage/uploads/upload.ts'
import type { Webhook } from '../../../lib/webhooks/webhooks.ts'
import { entry } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { beforeCalls } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

type Stores = ReturnType<typeof openTableStores>

const site = 1001 as SiteId
const token = { hash: 'hash', user: 'ann', sites: [site], permissions: [], expires: 2_000_000_000 }
const webhook = { site, id: 'whk_1', types: [], secrets: [], position: 0, retries: [] } as unknown as Webhook

const changes: [string, (stores: Stores, name: string) => Promise<unknown>][] = [
  [
    'the issuers',
    ({ issuers }, id) =>
      issuers.changeTrust((trust) => addIssuer(trust, { id, url: `https://${id}.example.com`, audience: 'x' }), []),
  ],
  ['a token', ({ grants }, user) => grants.change('hash', (grant) => ({ ...grant, user }), [])],
  ['a person', ({ people }, email) => updatePerson(people, 'ann', (before) => ({ after: { ...before, email } }))],
  ['a webhook', ({ webhooks }, subject) => webhooks.change(site, 'whk_1', (old) => ({ ...old, subject }), entry)],
]

test.each(changes)('A change of %s that another overtakes each time fails with 100503', async (_, change) => {
  const tables = openMemoryTables()
  const stores = openTableStores(tables.names, { dynamodb: tables.connect() })
  await stores.grants.put(token, [])
  await stores.people.create(testPerson({ sites: {} }), [])
  await stores.webhooks.create(webhook, entry)
  const client = tables.connect()
  let others = 0
  beforeCalls(client, 'PutItemCommand', async () => void (await change(stores, `other-${others++}`)))
  const overtaken = change(openTableStores(tables.names, { dynamodb: client }), 'mine')
  await expect(overtaken).rejects.toMatchObject({ code: 100503 })
  const { issuers, grants, people, webhooks } = stores
  const left = [await issuers.trust(), await grants.list(), await people.get('ann'), await webhooks.listOfSite(site)]
  expect(JSON.stringify(left)).toContain(`other-${others - 1}`)
  expect(JSON.stringify(left)).not.toContain('mine')
})

test('A success while another sign-in is counted does not count as failed (A-76)', async () => {
  const tables = openMemoryTables()
  const [client, others] = [tables.connect(), openTableStores(tables.names, { dynamodb: tables.connect() }).attempts]
  const { attempts } = openTableStores(tables.names, { dynamodb: client })
  const limit = { key: 'address', most: 2 }
  await others.count(limit)
  let puts = 0
  beforeCalls(client, 'PutItemCommand', async () => {
    if (puts++ === 0) await others.forgive(limit)
  })
  await attempts.count(limit)
  await attempts.forgive(limit)
  expect([await others.count(limit), await others.count(limit)]).toEqual([0, 0])
})

test('A sign-in that others overtake each time must wait', async () => {
  const tables = openMemoryTables()
  const [client, others] = [tables.connect(), openTableStores(tables.names, { dynamodb: tables.connect() }).attempts]
  const limit = { key: 'address', most: 100 }
  let tries = 0
  beforeCalls(client, 'PutItemCommand', async () => {
    tries += 1
    await others.count(limit)
  })
  expect(await openTableStores(tables.names, { dynamodb: client }).attempts.count(limit)).toBeGreaterThan(0)
  expect(tries).toBeLessThan(20)
})

test('Of two uploads that are created at once, only one is the last open upload (U-17)', async () => {
  const tables = openMemoryTables()
  const [client, others] = [tables.connect(), openTableStores(tables.names, { dynamodb: tables.connect() })]
  const uploadOf = (id: string) => ({ id, site, user: 'ann', isComplete: false, expires: 1 }) as unknown as Upload
  let isOtherOpen = false
  beforeCalls(client, 'PutItemCommand', async () => {
    isOtherOpen = await others.uploadRecords.create(uploadOf('other'), 1, 0)
  })
  const isOpen = await openTableStores(tables.names, { dynamodb: client }).uploadRecords.create(uploadOf('mine'), 1, 0)
  expect([isOpen, isOtherOpen]).toEqual([false, true])
})
