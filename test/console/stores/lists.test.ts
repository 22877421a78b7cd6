import { describe, expect } from 'vitest'
import type { Change, ChangeType } from '../../../client/src/index.ts'
import { parseListView, queryFor } from '../../../console/categories/list-address.ts'
import { difference } from '../../../console/categories/object-dialog.tsx'
import {
  createListStore,
  defaultView,
  type Item,
  inChunks,
  type ListView,
  linkedAmong,
  pageSize,
  readAll,
  readLinked,
} from '../../../console/categories/objects-store.ts'
import { dropIndex } from '../../../console/forms/field-row.tsx'
import { createHistoryStore, groupOf } from '../../../console/history/history-store.ts'
import { byDay } from '../../../console/history/history-view.tsx'
import { placeOf } from '../../../console/history/places.ts'
import { test } from '../support/console.ts'

const item = (id: number): Item => ({
  id,
  title: `Item ${id}`,
  released: '',
  isDeleted: false,
  isEnabled: true,
  isDisplayable: true,
})

/** A paged list of `total` items. */
const listOf = (counted: { total: number }) => {
  const views: ListView[] = []
  const store = createListStore(async (view) => {
    views.push(view)
    const { total } = counted
    const first = view.page * pageSize
    return {
      total,
      items: Array.from({ length: Math.max(0, Math.min(pageSize, total - first)) }, (_, n) => item(first + n)),
    }
  })
  return { store, views }
}

describe('a list of objects', () => {
  test('a list shows its first page after a new search or order', async () => {
    const { store } = listOf({ total: 500 })
    await store.show({ page: 3 })
    expect(store.view.value.page).toBe(3)
    await store.show({ search: 'office' })
    expect(store.view.value).toMatchObject({ search: 'office', page: 0 })
  })

  test('a list that has become shorter shows its last page', async () => {
    const counted = { total: 500 }
    const { store } = listOf(counted)
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

  test('a list keeps the selection on other pages', async () => {
    const { store } = listOf({ total: 200 })
    await store.load()
    store.choose([item(1), item(2)], true)
    await store.show({ page: 1 })
    store.choose([item(60)], true)
    store.choose([item(2)], false)
    expect([...store.chosen.value.keys()]).toEqual([1, 60])
  })

  test('the address leaves out default values, and faulty values are corrected', () => {
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
})

describe('requests for lists', () => {
  test.for(['news', 'blogs'] as const)(
    '%s can be listed by title, and found by id',
    async (kind, { client: { categories } }) => {
      const byTitle = { ...defaultView, sort: 'title', isDescending: false } as const
      const { items, total } = await readAll(categories, kind, byTitle)
      const titles = items.map(({ title }) => title.toLowerCase())
      expect([titles.toSorted(), total]).toEqual([titles, items.length])
      for (const list of [
        (view: ListView) => readAll(categories, kind, view),
        (view: ListView) => readLinked(categories, 1, kind, view),
      ]) {
        const [first] = (await list(byTitle)).items
        const byId = await list({ ...defaultView, search: String(first?.id) })
        expect(byId.items).toContainEqual(first)
      }
    },
  )

  test('the links of a set of objects are found', async ({ client: { categories } }) => {
    const { items } = await readLinked(categories, 1, 'news', defaultView)
    const ids = items.map(({ id }) => id)
    expect(await linkedAmong(categories, 1, 'news', [...ids, 9999])).toEqual(new Set(ids))
    expect(await linkedAmong(categories, 1, 'news', [])).toEqual(new Set())
  })

  test('requests about many objects have at most 500 each', async () => {
    const sizes: number[] = []
    await inChunks(
      Array.from({ length: 1201 }, (_, id) => id),
      async (some) => void sizes.push(some.length),
    )
    expect(sizes).toEqual([500, 500, 201])
  })
})

test('saving links and unlinks only the differences', () => {
  expect(difference(new Set([1, 2, 3]), new Set([2, 4]))).toEqual({ added: [4], removed: [1, 3] })
})

test('a row is dropped after the rows whose middles it has passed', () => {
  const rows = [0, 40, 80].map((top) => ({ top, height: 40 }))
  expect([0, 19, 21, 61, 99, 101, 500].map((y) => dropIndex(rows, y))).toEqual([0, 0, 1, 2, 2, 3, 3])
})

const change = (id: string, type: ChangeType, subject: string, details: Change['details'] = null): Change => ({
  id,
  at: `2026-01-0${id}T12:00:00.000Z`,
  type,
  subject,
  actor: 'ann',
  requestId: null,
  details,
})

describe('the history', () => {
  const types: readonly ChangeType[] = ['file.stored', 'file.removed', 'form.created', 'field.created', 'site.created']

  test('the history can be filtered by group, and comes newest first', async ({ client }) => {
    const store = createHistoryStore({ changes: client.changes, types, filter: { what: 'files', who: '', where: '' } })
    await store.load()
    const ids = store.changes.value?.map(({ id }) => id)
    expect(ids).toEqual(ids?.toSorted().toReversed())
    expect(new Set(store.changes.value?.map(({ type }) => type))).toEqual(new Set(['file.stored']))
  })

  test('a new change is added once, if it matches the filter', async ({ client }) => {
    const store = createHistoryStore({
      changes: client.changes,
      types,
      filter: { what: 'files', who: '', where: 'new' },
    })
    await store.load()
    const news = [
      change('1', 'file.stored', 'news/a'),
      change('2', 'form.created', 'news'),
      change('3', 'file.removed', 'news/b'),
    ]
    store.receive(news)
    store.receive(news)
    expect(store.changes.value?.map(({ id }) => id)).toEqual(['3', '1'])
  })

  test('a change that arrives during a read is not lost', async () => {
    const answer = Promise.withResolvers<readonly Change[]>()
    const store = createHistoryStore({
      types,
      changes: { newest: () => answer.promise, async *list() {} },
    })
    const reading = store.load()
    store.receive([change('2', 'file.stored', 'b')])
    answer.resolve([change('1', 'file.stored', 'a')])
    await reading
    expect(store.changes.value?.map(({ subject }) => subject)).toEqual(['b', 'a'])
  })

  test('the complete history can be read, up to the newest 20,000 entries', async () => {
    const total = 20_750
    const all = Array.from({ length: total }, (_, index) => ({
      ...change('1', 'file.stored', `file-${index}`),
      id: String(index).padStart(8, '0'),
    }))
    const store = createHistoryStore({
      types,
      changes: {
        newest: async (count) => all.slice(-count),
        async *list() {
          yield* all
        },
      },
    })
    await store.load()
    expect([store.changes.value?.length, store.isLimited.value]).toEqual([500, true])
    const reading = store.readAll()
    expect(store.readCount.value).toBe(0)
    await reading
    const shown = store.changes.value ?? []
    expect([shown.length, shown[0]?.id, shown.at(-1)?.id]).toEqual([20_000, '00020749', '00000750'])
    expect([store.isLimited.value, store.readCount.value]).toEqual([true, undefined])
  })

  test('a new filter stops a complete read', async ({ client }) => {
    const store = createHistoryStore({ changes: client.changes, types })
    await store.load()
    const reading = store.readAll()
    await store.setFilter({ what: 'form.created' })
    await reading
    expect(new Set(store.changes.value?.map(({ type }) => type))).toEqual(new Set(['form.created']))
    expect(store.readCount.value).toBeUndefined()
  })

  test('the history has a heading for each day', () => {
    const lines = byDay([
      change('3', 'file.stored', 'a'),
      change('2', 'file.stored', 'b'),
      change('2', 'file.stored', 'c'),
    ])
    expect(lines.map((line) => ('day' in line ? 'day' : line.change.subject))).toEqual(['day', 'a', 'day', 'b', 'c'])
  })

  test.each<[string, Change, object | undefined]>([
    [
      'of a file leads to its folder',
      change('1', 'file.stored', 'news/2026/a.html'),
      { view: 'files', path: ['news', '2026'] },
    ],
    [
      'of several files leads to their folder',
      change('1', 'file.stored', 'news', { names: ['a', 'b'] }),
      { path: ['news'] },
    ],
    [
      'of a moved file leads to its new folder',
      change('1', 'file.moved', 'a/b.txt', { to: 'c/d/b.txt' }),
      { path: ['c', 'd'] },
    ],
    ['of a field leads to its form', change('1', 'field.created', 'form/12/field/-7'), { view: 'forms', path: ['12'] }],
    [
      'of a link leads to its category',
      change('1', 'link.added', 'category/3/blogs/4'),
      { view: 'categories', path: ['3'], query: { kind: 'blogs' } },
    ],
    ['of a token leads nowhere', change('1', 'token.created', 'token/ab12'), undefined],
    ['of an import leads nowhere', change('1', 'content.imported', 'news'), undefined],
  ])('an entry %s', (_, one, place) => {
    if (place === undefined) expect(placeOf(one)).toBeUndefined()
    else expect(placeOf(one)).toMatchObject(place)
  })

  test('every type of change belongs to a group', () => {
    expect(types.map(groupOf)).toEqual(['files', 'files', 'fields', 'fields', 'site'])
  })
})
