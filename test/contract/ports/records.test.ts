import { expect, onTestFinished, test } from 'vitest'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { largestNamedId, type SiteId, type WebFormId } from '../../../lib/core/ids.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { addField, maxOrder, type WebForm } from '../../../lib/fields/web-forms.ts'
import type { Site } from '../../../lib/sites/site-directory.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import { describeOn, entry, handsOfPorts, type TableStores } from '../../support/hands.ts'
import { idsOf, range } from './some-content.ts'

const largest = largestNamedId as SiteId

const site = (id: number, name = `Site ${id}`): Site => ({
  id: id as SiteId,
  name,
  dataCentre: 'us',
  renderingEngine: id % 2 === 0,
})
const form = (id: number, name = `Form ${id}`): WebForm => ({
  site: largest,
  id: id as WebFormId,
  name,
  fields: [
    { typeId: -2, name, mandatory: true, order: 1 },
    { typeId: -400, name: '[ImageVerification]', mandatory: false, order: maxOrder },
  ],
})

/** Names that the rules of paths allow, and that a store may handle wrongly. */
const oddNames = [
  ...['%', '_', '*', '#', "o'clock", 'a "b"', ' blank ', '-0', '~', 'Übung', '日本語', '🍐'],
  ...['\u{fffe}', '\u{ffff}', '\u{10ffff}', 'x'.repeat(255)],
]

type Write = (stores: TableStores) => Promise<unknown>

describeOn({ kinds: handsOfPorts, subject: 'records' }, (hand) => {
  const { stores } = hand
  const { webForms } = stores

  test.each<[string, (name: string) => Promise<boolean>, Write]>([
    [
      'A site',
      (of) => stores.sites.createSite({ ...site(4, of), quota: of.length }, entry),
      ({ sites }) => sites.getSite(4 as SiteId),
    ],
    [
      'A web form',
      (of) => stores.webForms.create(form(4, of), entry),
      ({ webForms }) => webForms.get(largest, 4 as WebFormId),
    ],
    [
      'A category',
      (of) => stores.contents.create(largest, 'category', { id: 4, name: of }, entry),
      ({ contents }) => contents.get(largest, 'category', 4),
    ],
  ])('%s is created once, even if several callers create it at once', async (_, create, read) => {
    const created = await Promise.all(range(1, 10).map((number) => create(`Name ${number}`)))
    expect(created.filter(Boolean)).toHaveLength(1)
    const first = await read(stores)
    expect(await create('Again')).toBe(false)
    expect(await read(stores)).toEqual(first)
  })

  test('A form that was removed and created again keeps the new fields of every process', async () => {
    const other = hand.connect().webForms
    const again: WebForm = { ...form(7), fields: [] }
    const add = ({ changeFields }: typeof webForms, typeId: number) =>
      changeFields(largest, again.id, (fields) => addField(fields, { typeId, mandatory: true }), entry)
    await webForms.create(again, entry)
    await add(other, -2)
    await webForms.remove(largest, again.id, entry)
    await webForms.create(again, entry)
    await add(webForms, -5)
    await add(other, -6)
    expect((await webForms.get(largest, again.id))?.fields.map(({ typeId }) => typeId)).toEqual([-5, -6])
  })

  test('A change of a web form without time left changes nothing', async () => {
    const before = form(6)
    await webForms.create(before, entry)
    const late = createDeadline(() => 0)
    const change = webForms.changeFields(largest, before.id, () => [], entry, late)
    await expect(change).rejects.toMatchObject({ code: 100503 })
    expect(await webForms.get(largest, before.id)).toEqual(before)
  })
})

const manySites = range(1, 5_000).map((id) => id as SiteId)
const grant = { user: 'ann', sites: manySites, permissions: ['files'] } as const

describeOn({ kinds: handsOfPorts, subject: 'long lists' }, (_, { open }) => {
  // A page of DynamoDB has 1 MB, and each of these lists has more.
  test.each<
    [string, number, (stores: TableStores, id: number) => Promise<unknown>, (stores: TableStores) => Promise<number[]>]
  >([
    [
      'site',
      40,
      ({ sites }, id) => sites.createSite(site(id, 'x'.repeat(30_000)), entry),
      async ({ sites }) => idsOf((await sites.list()).sites),
    ],
    [
      'web form with a long name',
      40,
      ({ webForms }, id) => webForms.create(form(id, 'x'.repeat(30_000)), entry),
      async ({ webForms }) => idsOf(await webForms.list(largest)),
    ],
    [
      'token',
      30,
      ({ grants }, id) => grants.put({ ...grant, hash: hashToken(newToken()), expires: id }, []),
      async ({ grants }) => (await grants.list()).map(({ expires }) => expires).toSorted((a, b) => a - b),
    ],
  ])('Every %s is listed', async (_, count, write, list) => {
    const { stores, unrecorded, close } = await open()
    onTestFinished(close)
    expect(await list(stores)).toEqual([])
    await inParallel(range(1, count), 50, async (id) => void (await write(unrecorded, id)))
    expect(await list(stores)).toEqual(range(1, count))
  })
})

describeOn({ kinds: handsOfPorts, subject: 'running workflows' }, ({ stores: { workflows } }) => {
  let lastSite = 0
  const begin = async (path: string) => {
    lastSite += 1
    const own = lastSite as SiteId
    await workflows.start(own, toStoragePath(path), entry)
    const below = (folder: string) => workflows.isRunningBelow(own, folder === '' ? root : toStoragePath(folder))
    return { own, below }
  }

  test('A workflow is found among 250 pages', async () => {
    const pages = range(0, 249).map((index) => toStoragePath(`many/${index}.html`))
    const { own } = await begin('many/249.html')
    expect(await workflows.isRunning(own, pages)).toBe(true)
    expect(await workflows.isRunning(own, pages.slice(0, 249))).toBe(false)
    expect(await workflows.isRunning(own, [])).toBe(false)
  })

  test('A workflow is found in a folder at any depth above its page, and in no other', async () => {
    const { own, below } = await begin('a/bc/d/page.html')
    expect(await Promise.all(['', 'a', 'a/bc', 'a/bc/d'].map(below))).toEqual([true, true, true, true])
    const others = ['b', 'a/b', 'a/bc/d/page.html', 'a/bc/d/page', 'a/bc/d/e', 'a/bc-', 'a/bc0']
    expect(new Set(await Promise.all(others.map(below)))).toEqual(new Set([false]))
    expect(await workflows.isRunningBelow((own + 1_000) as SiteId, root)).toBe(false)
    expect(await (await begin('a/c#.html')).below('a/c#')).toBe(false)
  })

  test.each(oddNames)('The workflows of a page and of a folder called %j are separate', async (oddName) => {
    const inside = toStoragePath(`${oddName}/${oddName}`)
    const { own, below } = await begin(inside)
    expect(await workflows.isRunning(own, [inside])).toBe(true)
    expect(await workflows.isRunning(own, [toStoragePath(oddName)])).toBe(false)
    expect([await below(oddName), await below('')]).toEqual([true, true])
    expect(await workflows.end(own, inside, entry)).toBe(true)
    expect(await below('')).toBe(false)
  })
})
