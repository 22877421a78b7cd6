import { expect } from 'vitest'
import type { Change, ChangeType } from '../../../client/src/index.ts'
import { parseListView, queryFor } from '../../../console/categories/list-address.ts'
import {
  createListStore,
  defaultView,
  type Item,
  inChunks,
  type ListView,
  readLinkable,
  readLinked,
  readObject,
  wordsOf,
} from '../../../console/categories/objects-store.ts'
import { linesOf } from '../../../console/history/change-lines.ts'
import { createHistoryStore } from '../../../console/history/history-store.ts'
import { placeOf } from '../../../console/history/places.ts'
import { changeWith } from '../../client/support/change.ts'
import { test } from '../../client/support/site.ts'

const item = (id: number): Item => ({
  id,
  title: `Item ${id}`,
  released: '',
  isDeleted: false,
  isEnabled: true,
  isDisplayable: true,
})

/** A paged list of `total` items. */
const listOf = (counted: { total: number }) =>
  createListStore(async ({ page }, limit) => {
    const { total } = counted
    const first = page * limit
    const length = Math.max(0, Math.min(limit, total - first))
    return { total, items: Array.from({ length }, (_, n) => item(first + n)) }
  })

test('a new search or order shows the first page of a list', async () => {
  const store = listOf({ total: 500 })
  await store.show({ page: 3 })
  expect(store.view.value.page).toBe(3)
  await store.show({ search: 'office' })
  expect(store.view.value).toMatchObject({ search: 'office', page: 0 })
})

test('a list that has become shorter shows its last page', async () => {
  const counted = { total: 500 }
  const store = listOf(counted)
  await store.show({ page: 9 })
  counted.total = 120
  await store.load()
  expect(store.view.value.page).toBe(2)
  expect(store.page.value?.items[0]?.id).toBe(100)
  counted.total = 0
  await store.load()
  expect([store.view.value.page, store.page.value?.items]).toEqual([0, []])
})

test('a list shows the page that was requested last, whichever answer comes last', async () => {
  const waiting: (() => void)[] = []
  const store = createListStore(async ({ page }) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { total: 1000, items: [item(page)] }
  })
  const [slow, fast] = [store.show({ page: 1 }), store.show({ page: 2 })]
  waiting[1]?.()
  await fast
  waiting[0]?.()
  await slow
  expect(store.page.value?.items[0]?.id).toBe(2)
})

test('frequent changes do not keep a slow list from being shown (K-15)', async () => {
  const waiting: (() => void)[] = []
  const store = createListStore(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { total: 1, items: [item(1)] }
  })
  store.load()
  for (let change = 0; change < 3; change++) store.loadLater()
  waiting[0]?.()
  await expect.poll(() => store.page.value?.items.length).toBe(1)
})

test('objects that are selected on one page stay selected on other pages of the list', async () => {
  const store = listOf({ total: 200 })
  await store.load()
  store.choose([item(1), item(2)], true)
  await store.show({ page: 1 })
  store.choose([item(60)], true)
  store.choose([item(2)], false)
  expect([...store.chosen.value.keys()]).toEqual([1, 60])
})

test('all objects of a long list are selected at once, except linked ones (K-15)', async () => {
  const store = listOf({ total: 450 })
  await store.load()
  await store.chooseAll()
  expect(store.chosen.value.size).toBe(450)
  expect(store.view.value.page).toBe(0)
  store.clear()
  store.choose([item(1), { ...item(2), isLinked: true }], true)
  expect([...store.chosen.value.keys()]).toEqual([1])
})

test('the address leaves out default values, and wrong values become default values', () => {
  const view: ListView = { search: ' office ', sort: 'title', isDescending: true, page: 2 }
  expect(queryFor('blogs', view)).toEqual({ kind: 'blogs', q: 'office', sort: '-title', page: '3' })
  expect(parseListView(queryFor('blogs', view))).toEqual({ ...view, search: 'office' })
  expect(Object.values(queryFor('news', defaultView))).toEqual(['', '', '', ''])
  expect(parseListView({ sort: 'body', page: '-1', q: 'x'.repeat(5000) })).toMatchObject({
    sort: 'released',
    page: 0,
    search: 'x'.repeat(200),
  })
})

test.for(['news', 'blogs'] as const)('%s are listed, and found by id', async (kind, { client: { categories } }) => {
  const byTitle = { ...defaultView, sort: 'title', isDescending: false } as const
  const { items, total } = await readLinkable(categories, 1, kind, byTitle)
  const titles = items.map(({ title }) => title.toLowerCase())
  expect([titles.toSorted(), total]).toEqual([titles, items.length])
  // Deleted objects cannot be linked.
  expect(items.filter(({ isDeleted }) => isDeleted)).toEqual([])
  for (const list of [
    (view: ListView) => readLinkable(categories, 1, kind, view),
    (view: ListView) => readLinked(categories, 1, kind, view),
  ]) {
    const [first] = (await list(byTitle)).items
    const byId = await list({ ...defaultView, search: String(first?.id) })
    expect(byId.items).toContainEqual(first)
  }
})

test('the content of an object is shown as words (K-15)', async ({ client: { categories } }) => {
  expect(wordsOf('<style>p { }</style><p>One&nbsp;&amp;&#32;<b>two</b></p> &lt;3')).toBe('One & two <3')
  expect(wordsOf('It&#39;s Caf&eacute; <!-- a > b -->&#x2013; M&uuml;nchen &amp;lt; &none; &#9999999;')).toBe(
    "It's Café – München &lt; &none; &#9999999;",
  )
  expect(await readObject(categories, 'news', 4)).toMatchObject({ text: expect.stringMatching(/item 4 of the demo/) })
  expect(await readObject(categories, 'blogs', 1)).toMatchObject({
    address: '/blogs/notes-1',
    text: 'What happens in San Jose',
  })
  expect(await readObject(categories, 'news', 9999)).toBeUndefined()
})

test('the objects that are already in the category are marked', async ({ client: { categories } }) => {
  const linked = await readLinked(categories, 1, 'news', defaultView)
  const { items } = await readLinkable(categories, 1, 'news', defaultView, 200)
  const marked = items.filter(({ isLinked }) => isLinked).map(({ id }) => id)
  expect(new Set(marked)).toEqual(new Set(linked.items.filter(({ isDeleted }) => !isDeleted).map(({ id }) => id)))
  expect(marked.length).toBeLessThan(items.length)
  expect((await readLinkable(categories, 1, 'news', { ...defaultView, search: 'nothing like it' })).items).toEqual([])
})

test('one request asks about at most 500 objects', async () => {
  const sizes: number[] = []
  const ids = Array.from({ length: 1201 }, (_, id) => id)
  await inChunks(ids, async (some) => void sizes.push(some.length))
  expect(sizes).toEqual([500, 500, 201])
})

const change = (id: string, type: ChangeType, subject: string, details: Change['details'] = null) =>
  changeWith({ id, at: `2026-01-0${id}T12:00:00.000Z`, type, subject, details })

const types: readonly ChangeType[] = ['file.stored', 'file.removed', 'form.created', 'field.created', 'site.created']

test('the history can be filtered by group, and is shown newest first', async ({ client }) => {
  const store = createHistoryStore({ changes: client.changes, types, filter: { what: 'files', who: '', where: '' } })
  await store.load()
  const ids = store.changes.value?.map(({ id }) => id)
  expect(ids).toEqual(ids?.toSorted().toReversed())
  expect(new Set(store.changes.value?.map(({ type }) => type))).toEqual(new Set(['file.stored']))
})

test('a new change is added once, if it matches the filter (V-34)', async ({ client }) => {
  const where = '/n\u0065\u0301ws/'
  const store = createHistoryStore({ changes: client.changes, types, filter: { what: 'files', who: '', where } })
  await store.load()
  const news = [
    change('1', 'file.stored', 'n\u00e9ws', { names: ['a'] }),
    change('2', 'form.created', 'n\u00e9ws/a'),
    change('3', 'file.removed', 'n\u00e9ws/b'),
    change('4', 'file.stored', 'a', { to: 'n\u00e9ws/c' }),
    change('5', 'file.stored', '', { names: ['a', 'n\u00e9ws2'] }),
  ]
  store.receive(news)
  store.receive(news)
  expect(store.changes.value?.map(({ id }) => id)).toEqual(['4', '3', '1'])
})

test('a change that arrives during a read is not lost', async () => {
  const answer = Promise.withResolvers<readonly Change[]>()
  const store = createHistoryStore({
    types,
    changes: { page: async () => ({ items: await answer.promise, next: undefined }) },
  })
  const reading = store.load()
  store.receive([change('2', 'file.stored', 'b')])
  answer.resolve([change('1', 'file.stored', 'a')])
  await reading
  expect(store.changes.value?.map(({ subject }) => subject)).toEqual(['b', 'a'])
})

test('the history scrolls back to its oldest change, one page at a time (K-16)', async () => {
  const all = Array.from({ length: 1_200 }, (_, index) => change(String(index).padStart(8, '0'), 'file.stored', 'a'))
  const asked: (string | undefined)[] = []
  const store = createHistoryStore({
    types,
    changes: {
      async page({ before } = {}) {
        asked.push(before)
        const newest = all.filter(({ id }) => before === undefined || id < before).toReversed()
        return { items: newest.slice(0, 500), next: newest[500] && newest[499]?.id }
      },
    },
  })
  await store.load()
  expect([store.changes.value?.length, store.hasMore.value]).toEqual([500, true])
  await Promise.all([store.readOlder(), store.readOlder()])
  await store.readOlder()
  await store.readOlder()
  expect(store.changes.value?.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toReversed())
  expect([asked, store.hasMore.value]).toEqual([[undefined, '00000700', '00000200'], false])
})

test('a search for the changes of a user reads at most ten pages at a time', async () => {
  let pages = 0
  const store = createHistoryStore({
    types,
    filter: { what: '', who: 'bob', where: '' },
    changes: { page: async () => ({ items: [change('1', 'file.stored', 'a')], next: String(++pages) }) },
  })
  await store.load()
  expect([pages, store.changes.value, store.hasMore.value]).toEqual([10, [], true])
})

test('the history has a heading for each day', () => {
  const lines = linesOf([
    change('3', 'file.stored', 'a'),
    change('2', 'form.created', 'b'),
    change('2', 'file.stored', 'c'),
  ])
  expect(lines.map((line) => ('change' in line ? line.change.subject : 'day'))).toEqual(['day', 'a', 'day', 'b', 'c'])
})

test('the files of one upload share a line, until a pause or another user (K-16)', () => {
  const at = (second: number, subject: string, other: Partial<Change> = {}) => ({
    ...change('1', 'file.stored', subject),
    id: `${second}`,
    at: `2026-03-01T12:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z`,
    ...other,
  })
  const changes = [
    at(300, 'web/css/a.css', { actor: 'bob' }),
    at(299, 'web/css/b.css'),
    at(250, 'web', { details: { names: ['c', 'd'] } }),
    at(249, 'web/old', { type: 'file.removed' }),
    at(120, 'web/e'),
    at(116, 'f'),
    at(60, 'web/g'),
  ]
  const shown = (open?: ReadonlySet<string>) =>
    linesOf(changes, open).flatMap((line) => {
      if ('day' in line) return []
      if ('change' in line) return `${line.within ?? ''}: ${line.change.subject}`
      return `${line.group.files} in ${line.group.folder}`
    })
  const single = [': web/css/a.css', '3 in web', ': web/old', '2 in ', ': web/g']
  expect(shown()).toEqual(single)
  expect(shown(new Set(['250']))).toEqual(single.toSpliced(2, 0, 'web: web/css/b.css', 'web: web'))
})

test.each<[string, Change, object | undefined]>([
  ['of a file leads to its folder', change('1', 'file.stored', 'news/26/a'), { view: 'files', path: ['news', '26'] }],
  ['of files leads to their folder', change('1', 'file.stored', 'news', { names: ['a', 'b'] }), { path: ['news'] }],
  ['of a moved file leads to its new folder', change('1', 'file.moved', 'a/b', { to: 'c/d/b' }), { path: ['c', 'd'] }],
  ['of a field leads to its form', change('1', 'field.created', 'form/12/field/-7'), { view: 'forms', path: ['12'] }],
  [
    'of a link leads to its category',
    change('1', 'link.added', 'category/3/blogs/4'),
    { view: 'categories', path: ['3'], query: { kind: 'blogs' } },
  ],
  ['of a token leads nowhere', change('1', 'token.created', 'token/ab12'), undefined],
  ['of an import leads nowhere', change('1', 'content.imported', 'news'), undefined],
])('a history entry %s', (_, one, place) => {
  if (place === undefined) expect(placeOf(one)).toBeUndefined()
  else expect(placeOf(one)).toMatchObject(place)
})

test('after a failed new filter, the history has no entries of the old one (K-16)', async () => {
  const changes = {
    page: async ({ types: wanted }: { readonly types?: readonly ChangeType[] }) => {
      if (wanted) throw new Error('The service did not answer')
      return { items: [changeWith({ id: '1' })], next: 'older' }
    },
  }
  const store = createHistoryStore({ changes: changes as never, types })
  await store.load()
  expect([store.known.value, store.hasMore.value]).toEqual([1, true])
  await store.setFilter({ what: 'files' })
  expect([store.known.value, store.hasMore.value, store.failure.value !== undefined]).toEqual([0, false, true])
})
