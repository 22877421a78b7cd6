import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { findGrant } from '../../../admin/stores/admin-stores.ts'
import { findCaller, type Grant, hashToken, issueGrant } from '../../../lib/access/grants.ts'
import { revokeKey } from '../../../lib/access/keys.ts'
import { beginSession, changePassword, hashPassword, siteSession } from '../../../lib/access/sign-in.ts'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import { listWhole } from '../../../lib/categories/contents.ts'
import { type CategoryId, type SiteId, storedId, type WebFormId } from '../../../lib/core/ids.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { addOwner } from '../../support/every-operation.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { aroundCommands } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

/**
 * Consistent reads see the newest writes, and cost twice as much. DynamoDB in memory always shows the newest writes, so
 * the suites of the ports cannot detect an inconsistent read. These tests check the input of each read.
 */

/** One entry for each read of a test: true if the read was consistent. */
let reads: boolean[] = []

const consistencyOf = (input: object): boolean => {
  const options = 'RequestItems' in input ? Object.values(input.RequestItems ?? {}).map(Object) : [Object(input)]
  return options.every(({ ConsistentRead }) => ConsistentRead === true)
}

const site = 1 as SiteId
const other = 2 as SiteId
const form = 3 as WebFormId
const list: LinkList = { site, kind: 'news', category: 5 as CategoryId }
const removed = 6 as CategoryId
const folder = toStoragePath('photos')

const { names, connect } = openMemoryTables()
const dynamodb = connect()
aroundCommands(dynamodb, 'call', (send, { name, input }) => {
  if (/^(Get|Query|Scan|BatchGet)/.test(name)) reads.push(consistencyOf(input))
  return send()
})
const stores = openTableStores(names, { dynamodb, record: unrecorded })
type Tested = typeof stores
await stores.contents.putMany(site, 'category', [{ id: list.category }, { id: removed }], entry)
await stores.contents.putMany(site, 'news', [{ id: 1 }], entry)
await stores.webForms.create({ site, id: form, name: 'Form', fields: [] }, entry)
await stores.removals.open(site, folder, 'open', entry)
const session = hashToken(await addOwner(stores))
const bob = testPerson({ name: 'bob' })
await stores.people.create(bob, [])
const granted = { user: 'ann', sites: [site], permissions: [], expires: 4e9 }
const token = (await issueGrant(stores.grants, granted)).grant.hash

const readsOf = async (call: (tested: Tested) => Promise<unknown>): Promise<boolean[]> => {
  reads = []
  await call(stores)
  return reads
}

test.each<[string, number, (tested: Tested) => Promise<unknown>]>([
  ['a person', 1, ({ people }) => people.get('ann')],
  ['the people of a site', 1, ({ people }) => people.listOfSites(site)],
  ['the other owners before an owner leaves', 1, ({ people }) => people.replace(bob, undefined, [])],
  ['a code of a sign-in', 1, ({ accessValues }) => accessValues.get('code')],
  ['a key before its removal', 1, ({ grants }) => revokeKey(grants, site, token, { actor: 'ann' }).catch(() => {})],
  // First as a secret, then as a hash.
  ['a token that a command revokes by its hash', 2, ({ grants }) => findGrant({ grants }, 'token', token)],
  ['the progress of an upload', 1, ({ progress }) => progress.percentOf('token')],
  ['content', 1, ({ contents }) => contents.get(site, 'news', 1)],
  ['the existence of content', 1, ({ contents }) => contents.existing(site, 'news', [1])],
  ['content with its text', 2, ({ contents }) => listWhole(contents, site, 'news', 0, 1)],
  ['the highest id of content', 1, ({ contents }) => contents.highestId(site, 'news')],
  // Category, objects and links before the write. Category and objects again after the write.
  ['the objects of a new link', 5, ({ links }) => links.link(list, new Map([[1, true]]), entry)],
  ['the category of an unlink', 1, ({ links }) => links.unlink(list, [1], entry)],
  ['whole web forms', 1, ({ webForms }) => webForms.listWhole(site, 0, 1)],
  ['the highest id of a web form', 1, ({ webForms }) => webForms.highestId(site)],
  ['the fields before a change', 1, ({ webForms }) => webForms.changeFields(site, form, () => [], entry)],
  ['running workflows', 1, ({ workflows }) => workflows.isRunning(site, [folder])],
  ['a list of running workflows', 1, ({ workflows }) => workflows.list(site, undefined, 1)],
  ['running workflows below a folder', 1, ({ workflows }) => workflows.isRunningBelow(site, folder)],
  ['an open removal before a second removal', 1, ({ removals }) => removals.open(site, folder, 'second', entry)],
  ['open removals below a folder', 1, ({ removals }) => removals.isOpenBelow(site, folder)],
  ['the locks of folders', 1, ({ removals }) => removals.locksOf(site, [folder])],
  ['the storage that a site uses', 1, ({ usage }) => usage.bytesOf(site)],
  ['an upload', 1, ({ uploadRecords }) => uploadRecords.get('id')],
  ['a webhook', 1, ({ webhooks }) => webhooks.get(site, 'id')],
  ['the webhooks of a site', 1, ({ webhooks }) => webhooks.listOfSite(site)],
  ['the history', 1, ({ history }) => history.after(site, 0, 1)],
  ['the end of the history', 1, ({ history }) => history.before(site, undefined, 1)],
  // One read for each kind of object.
  ['the links of a removed category', 2, ({ contents }) => contents.remove(site, 'category', removed, entry)],
  ['the web forms of a removed site', 1, ({ webForms }) => webForms.clear(other)],
])('the read of %s is consistent', async (_, count, call) => {
  expect(await readsOf(call)).toEqual(Array.from({ length: count }, () => true))
})

test('The reads of a password change are consistent, so sessions end (A-73)', async () => {
  const deps = { ...stores, clock: { wall: Date.now }, findSite: async () => undefined }
  const [old, changed] = ['correct horse battery', 'battery horse correct']
  const person = testPerson({ name: 'eve', password: await hashPassword(old) })
  await stores.people.create(person, [])
  const session = (await stores.grants.get(hashToken(await beginSession(deps, person)))) as Grant
  const credentials = { username: 'eve', password: old, address: undefined }
  expect(new Set(await readsOf(() => changePassword(deps, session, credentials, changed)))).toEqual(new Set([true]))
})

test.each<[string, (tested: Tested) => Promise<unknown>]>([
  ['a site', ({ sites }) => sites.getSite(site)],
  ['a data centre', ({ sites }) => sites.getDataCentre('us')],
  ['a token and its person', ({ grants, people }) => findCaller(grants, people, session)],
  ['the issuers', ({ issuers }) => issuers.trust()],
  ['a web form', ({ webForms }) => webForms.get(site, form)],
  ['contents of a list', ({ contents }) => contents.getMany(site, 'news', [1])],
  ['long texts', ({ contents }) => contents.texts(site, 'news', [1])],
  ['a list of content', ({ contents }) => contents.list(site, 'news', 0, 10)],
  ['the number of objects', ({ contents }) => contents.count(site, 'news', 0, 10)],
  ['a list of links', ({ links }) => links.list(list, 0, 10)],
  ['the number of links', ({ links }) => links.count(list, 0, 10)],
])('the read of %s costs half as much, because it may be stale', async (_, call) => {
  expect(new Set(await readsOf(call))).toEqual(new Set([false]))
})

/** A replica that inconsistent reads reach, and that has no item yet. */
const lagBehind = (client: DynamoDBDocumentClient): DynamoDBDocumentClient => {
  aroundCommands(client, 'call', async (send, { name, input }) =>
    name.startsWith('Get') && !consistencyOf(input) ? ({ output: {}, response: {} } as never) : send(),
  )
  return client
}

test('A new token works before cheap reads find it and its person (A-62, A-65, A-68)', async () => {
  const { grants, people } = openTableStores(names, { dynamodb: lagBehind(connect()), record: unrecorded })
  const person = testPerson({ name: 'new' })
  await people.create(person, [])
  const hash = hashToken(await beginSession({ grants, clock: { wall: Date.now } }, person))
  const session = await findCaller(grants, people, hash)
  expect(session?.person?.name).toBe('new')
  const ofSite = session && (await siteSession(grants, session, person, storedId<SiteId>(1001)))
  expect(await findCaller(grants, people, hashToken(ofSite ?? ''))).toMatchObject({ parent: hash })
  await grants.remove(hash, [])
  expect(await findCaller(grants, people, hashToken(ofSite ?? ''))).toBeUndefined()
})
