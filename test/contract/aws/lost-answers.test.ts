import { expect, test } from 'vitest'
import { findCaller, hashToken, uncover } from '../../../lib/access/grants.ts'
import { addIssuer, addRule, type Rule } from '../../../lib/access/issuers/issuers.ts'
import { updatePerson } from '../../../lib/access/people.ts'
import { acceptInvitation, invite } from '../../../lib/access/sign-in.ts'
import { mergeContent } from '../../../lib/core/content-kinds.ts'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import { type CategoryId, type SiteId, storedId, type WebFormId } from '../../../lib/core/ids.ts'
import type { Scalars } from '../../../lib/core/object-kinds.ts'
import { addField } from '../../../lib/fields/web-forms.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import type { Upload } from '../../../lib/storage/uploads/upload.ts'
import type { Webhook } from '../../../lib/webhooks/webhooks.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { failOnce, loseAnswer } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

const site = 1001 as SiteId
const { names, connect } = openMemoryTables()
const dynamodb = connect()
const recorded: HistoryEntry[] = []
const { attempts, contents, grants, issuers, links, people, sites, uploadRecords, webForms, webhooks, workflows } =
  openTableStores(names, { dynamodb, record: async (one) => void recorded.push(one) })

const webhook = { site, id: 'whk_1', types: [], secrets: [], position: 0 } as unknown as Webhook
const token = { hash: 'hash', user: 'ann', sites: [site], permissions: [], expires: 2_000_000_000 }
const person = testPerson({ sites: {} })
const contactForm = { site, id: storedId<WebFormId>(1), name: 'Contact', fields: [] }
const item = { id: 36 }
const page = toStoragePath('page.html')
const place = { id: site, name: 'Shop', dataCentre: 'us', renderingEngine: true }

const removeSiteFromToken = () => grants.change(token.hash, (present) => uncover(present, site), [entry])
const removePerson = () => people.replace(person, undefined, [entry])

const removals: [string, () => Promise<unknown>, () => Promise<boolean>][] = [
  ['token', () => grants.put(token, []), () => grants.remove(token.hash, [entry])],
  ['token without other sites', () => grants.put(token, []), removeSiteFromToken],
  ['person', () => people.create(person, []), removePerson],
  ['site', () => sites.createSite(place, entry), () => sites.removeSite(site, entry)],
  ['web form', () => webForms.create(contactForm, entry), () => webForms.remove(site, contactForm.id, entry)],
  ['news item', () => contents.create(site, 'news', item, entry), () => contents.remove(site, 'news', item.id, entry)],
  [
    'category',
    () => contents.create(site, 'category', item, entry),
    () => contents.remove(site, 'category', storedId(item.id), entry),
  ],
  ['workflow', () => workflows.start(site, page, entry), () => workflows.end(site, page, entry)],
  ['webhook', () => webhooks.create(webhook, entry), () => webhooks.remove(site, webhook.id, entry)],
]

test.each(removals)('Of concurrent removals of a %s, one is recorded (H-1)', async (_, create, remove) => {
  await create()
  recorded.length = 0
  const removed = await Promise.all([remove(), remove(), remove()])
  expect([removed.filter(Boolean), recorded]).toEqual([[true], [entry]])
})

test.each(removals)('The removal of a %s is recorded after a lost answer (H-1)', async (_, create, remove) => {
  await create()
  recorded.length = 0
  const answers = loseAnswer(dynamodb, 'DeleteItemCommand')
  expect(await remove()).toBe(true)
  expect(await remove()).toBe(false)
  expect([answers.lost, recorded]).toEqual([1, [entry]])
})

const newItem = { id: 7, subject: 'We are open', body: '<p>Come in.</p>' }
const newForm = { ...contactForm, id: storedId<WebFormId>(7) }

test.each<[string, () => Promise<boolean>, () => Promise<unknown>, unknown]>([
  ['site', () => sites.createSite(place, entry), () => sites.getSite(site), place],
  ['web form', () => webForms.create(newForm, entry), () => webForms.get(site, newForm.id), newForm],
  [
    'news item',
    () => contents.create(site, 'news', newItem, entry),
    () => contents.texts(site, 'news', [newItem.id]),
    new Map([[newItem.id, newItem.body]]),
  ],
])('A %s whose first answer is lost is created once, and recorded (H-1)', async (_, create, read, created) => {
  recorded.length = 0
  const answers = loseAnswer(dynamodb, 'PutItemCommand')
  expect(await create()).toBe(true)
  expect(await create()).toBe(false)
  expect([answers.lost, recorded]).toEqual([1, [entry]])
  expect(await read()).toEqual(created)
})

const otherPlace = { ...place, id: storedId<SiteId>(1003) }
const otherForm = { ...contactForm, id: storedId<WebFormId>(8) }

test.each<[string, string, () => Promise<unknown>]>([
  ['name of a site', 'UpdateItemCommand', () => sites.renameSite(otherPlace.id, 'Shop 2', entry)],
  ['quota of a site', 'UpdateItemCommand', () => sites.setQuota(otherPlace.id, 1_000, entry)],
  ['end of a quota', 'UpdateItemCommand', () => sites.setQuota(otherPlace.id, undefined, entry)],
  ['name of a web form', 'UpdateItemCommand', () => webForms.rename(site, otherForm.id, 'Newsletter', entry)],
  ['workflow', 'PutItemCommand', () => workflows.start(site, page, entry)],
  ['list of sites of a token', 'PutItemCommand', removeSiteFromToken],
])('A new %s is recorded once although its first answer is lost (H-1)', async (_, command, change) => {
  await Promise.all([sites.createSite(otherPlace, entry), webForms.create(otherForm, entry)])
  await grants.put({ ...token, sites: [site, otherPlace.id] }, [])
  recorded.length = 0
  const answers = loseAnswer(dynamodb, command)
  await change()
  await change()
  expect([answers.lost, recorded]).toEqual([1, [entry]])
})

test.each(['category', 'news'] as const)(
  'After a cut removal, an import of the %s brings back no links',
  async (kind) => {
    const category = { id: 51, name: 'Lists' }
    const list = { site, kind: 'news', category: storedId<CategoryId>(category.id) } as const
    const removed = { category, news: item }[kind]
    // The first call begins the removal.
    for (let call = 1, isRemoved = false; !isRemoved; call += 1) {
      await contents.putMany(site, 'news', [item], entry)
      await contents.putMany(site, 'category', [category], entry)
      await links.link(list, new Map([[item.id, true]]), entry)
      const cut = connect()
      failOnce(cut, { call, failure: 'timed out' })
      const failing = openTableStores(names, { dynamodb: cut, record: unrecorded })
      isRemoved = await failing.contents.remove(site, kind, removed.id, entry).catch(() => false)
      await contents.changeMany(site, kind, [removed.id], () => removed, entry)
      expect(await contents.get(site, kind, removed.id)).toMatchObject(removed)
      expect(await links.list(list, 0, 10)).toEqual([])
    }
  },
)

test('A removal whose answer is lost spares a new person with the same name (A-60)', async () => {
  const before = testPerson({ name: 'eve', sites: {} })
  const next = { ...before, created: before.created + 1 }
  const client = connect()
  await people.create(before, [])
  const answers = loseAnswer(client, 'DeleteItemCommand', async () => void (await people.create(next, [])))
  expect(await openTableStores(names, { dynamodb: client }).people.replace(before, undefined, [])).toBe(true)
  expect([answers.lost, await people.get('eve')]).toEqual([1, next])
})

test('An acceptance that loses its answer beside another change is made (A-83)', async () => {
  const { person: invited, invitation } = invite(testPerson({ name: 'joe', sites: {} }), Date.now())
  await people.create(invited, [])
  const client = connect()
  const answers = loseAnswer(client, 'PutItemCommand', async () => {
    await updatePerson(people, 'joe', (before) => ({ after: { ...before, displayName: 'Joe' } }))
  })
  const stores = { ...openTableStores(names, { dynamodb: client }), grants }
  const deps = { ...stores, clock: { wall: Date.now }, findSite: async () => undefined }
  const { token } = await acceptInvitation(deps, invitation.text, { password: 'correct horse', address: undefined })
  expect(await findCaller(grants, people, hashToken(token))).toMatchObject({ person: { displayName: 'Joe' } })
  expect(answers.lost).toBe(1)
})

test('Imports at once are recorded although the first answer is lost (H-1, T-25)', async () => {
  await contents.putMany(site, 'news', [item], entry)
  recorded.length = 0
  const importNews = ({ changeMany }: typeof contents, members: Scalars) => {
    const merge = (stored: Scalars | undefined) => mergeContent('news', stored, { ...item, ...members }, 0)
    return changeMany(site, 'news', [item.id], merge, entry)
  }
  const client = connect()
  const answers = loseAnswer(client, 'PutItemCommand', async () => void (await importNews(contents, { slug: 'other' })))
  const losing = openTableStores(names, { dynamodb: client, record: async (one) => void recorded.push(one) })
  await importNews(losing.contents, { subject: 'New' })
  expect([answers.lost, recorded]).toEqual([1, [entry, entry]])
  expect(await contents.get(site, 'news', item.id)).toMatchObject({ subject: 'New', slug: 'other' })
})

test('A person whose answer is lost beside another change is created once (A-109)', async () => {
  const [amy, client] = [testPerson({ name: 'amy', sites: {} }), connect()]
  const later = { ...amy, displayName: 'Amy' }
  recorded.length = 0
  loseAnswer(client, 'PutItemCommand', async () => void (await people.replace(amy, later, [])))
  const record = async (one: HistoryEntry) => void recorded.push(one)
  const { create } = openTableStores(names, { dynamodb: client, record }).people
  expect([await create(amy, [entry]), await create({ ...amy, created: amy.created + 1 }, [entry])]).toEqual([
    true,
    false,
  ])
  expect([recorded, await people.get('amy')]).toEqual([[entry], { ...later, version: 2 }])
})

test('A change of the rules whose first answer is lost is made and recorded once (H-1)', async () => {
  const issuer = { id: 'work', url: 'https://login.example.com', audience: 'site-admin' }
  const grants = { rights: ['files:read'], ttl: 900 } as const
  const rule: Rule = { id: '1', issuer: issuer.id, claims: { team: 'web' }, site, grants }
  await issuers.changeTrust((trust) => addIssuer(trust, issuer), [])
  recorded.length = 0
  const answers = loseAnswer(dynamodb, 'PutItemCommand')
  await issuers.changeTrust((trust) => addRule(trust, rule), [entry])
  expect([answers.lost, recorded]).toEqual([1, [entry]])
  expect((await issuers.trust()).rules).toEqual([rule])
})

test('An append is recorded after a lost answer, and the next one continues (U-19)', async () => {
  const holding = { name: '', parts: [], tail: 'tail' }
  const upload = { id: '1', site, user: 'ann', length: 10, offset: 0, isComplete: false, holding } as unknown as Upload
  await uploadRecords.create({ ...upload, expires: 1 }, 1, 0)
  await uploadRecords.take(upload.id, 0, 'first', 60_000)
  const answers = loseAnswer(dynamodb, 'UpdateItemCommand')
  const progress = { offset: 5, length: 10, expires: 1, holding }
  expect(await uploadRecords.advance(upload.id, 'first', progress, false)).toBe(true)
  expect(answers.lost).toBe(1)
  const next = await uploadRecords.take(upload.id, 5, 'next', 60_000)
  expect(next).toMatchObject({ outcome: 'taken', upload: { offset: 5, holding } })
  expect(await uploadRecords.advance(upload.id, 'first', progress, false)).toBe(false)
})

test('A completed upload is recorded although every answer is lost (H-1)', async () => {
  const upload = { id: '2', site, user: 'ann', length: 1, offset: 1, isComplete: false } as unknown as Upload
  await uploadRecords.create({ ...upload, holding: { name: '', parts: [], tail: 'tail' }, expires: 1 }, 2, 0)
  await uploadRecords.take(upload.id, 1, 'first', 60_000)
  const client = connect(1)
  const answers = loseAnswer(client, 'UpdateItemCommand')
  recorded.length = 0
  const record = async (one: HistoryEntry) => void recorded.push(one)
  const { uploadRecords: losing } = openTableStores(names, { dynamodb: client, record })
  await losing.claim(upload.id, 'first', () => 60_000)?.complete(entry)
  expect(answers.lost).toBe(1)
  expect(recorded).toEqual([entry])
})

test.each([
  ['alone', []],
  ['beside other changes', [-4, -5, -6]],
])('A change of a form whose first answer is lost is made once, %s', async (_, others) => {
  const [form, client] = [{ ...contactForm, site: others.length as SiteId }, connect()]
  await webForms.create(form, entry)
  const add = ({ changeFields }: typeof webForms, typeId: number) =>
    changeFields(form.site, form.id, (fields) => addField(fields, { typeId, mandatory: true }), entry)
  const answers = loseAnswer(client, 'UpdateItemCommand', async () => {
    for (const typeId of others) await add(webForms, typeId)
  })
  await add(openTableStores(names, { dynamodb: client }).webForms, -2)
  expect(answers.lost).toBe(1)
  const { fields = [] } = (await webForms.get(form.site, form.id)) ?? {}
  expect(fields.map(({ typeId }) => typeId)).toEqual([-2, ...others])
})

test('The last place for an upload is given although its first answer is lost (U-17)', async () => {
  const last = { id: '3', site, user: 'bob', isComplete: false, expires: 1 } as unknown as Upload
  const answers = loseAnswer(dynamodb, 'UpdateItemCommand')
  expect(await uploadRecords.create(last, 1, 0)).toBe(true)
  expect([answers.lost, await uploadRecords.create({ ...last, id: '4' }, 1, 0)]).toEqual([1, false])
})

test('A success whose first answer is lost forgives one attempt (A-76)', async () => {
  const limit = { key: 'address', most: 2 }
  await attempts.count(limit)
  await attempts.count(limit)
  const answers = loseAnswer(dynamodb, 'UpdateItemCommand')
  await attempts.forgive(limit)
  expect([answers.lost, await attempts.count(limit)]).toEqual([1, 0])
  expect(await attempts.count(limit)).toBeGreaterThan(0)
})
