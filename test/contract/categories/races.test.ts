import { describe, expect, test } from 'vitest'
import { linksOf, link as linkTo } from '../../../lib/categories/category-links.ts'
import type { Content } from '../../../lib/categories/contents.ts'
import { categoriesOfObjectList } from '../../../lib/categories/lists.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import { mergeContent } from '../../../lib/core/content-kinds.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import { callsToTry } from '../../support/each-call.ts'
import { author, entry } from '../../support/history.ts'
import { aroundCall, aroundCommands, watchCalls } from '../../support/store-faults.ts'
import { namedCategories, range } from '../ports/some-content.ts'
import { answering } from './faults.ts'
import { category, type Deps, fill, linkedIds, newsOfCategory, openStore, site } from './store.ts'

const store = await openStore()
const deps = store.over(store.dynamodb)

const ids = range(1, 30)
const gone = 3

const removals = {
  'the removal of an object': (over: Deps) => over.contents.remove(site, 'news', gone, entry),
  'the removal of the category': (over: Deps) => over.contents.remove(site, 'category', category, entry),
}

const link = (over: Deps) =>
  linkTo(
    over,
    newsOfCategory,
    // Links without `displayable` are written one by one, the others in a batch. The link to the removed object has its
    // own call.
    ids.map((id) => ({ id, ...(id > 4 && { displayable: true }) })),
    author,
  )

const linkFromObject = (over: Deps) => linkTo(over, { site, kind: 'news', id: gone }, [{ id: category }], author)

/** Runs an operation. A refusal by the service is an outcome like any other. */
const attempt = async (work: Promise<unknown>): Promise<number> => {
  try {
    await work
    return 200
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return 404
    throw error
  }
}

const begin = async () => {
  await fill(deps, ids)
  await deps.linkItems.deleteMany(linksOf(newsOfCategory, ids))
}

/** Fails if a link leads to a missing category or object. */
const expectNoStrayLinks = async () => {
  const linked = await linkedIds(deps)
  const categoryExists = (await deps.contents.get(site, 'category', category)) !== undefined
  const existing = await deps.contents.existing(site, 'news', ids)
  expect(linked.filter((id) => !categoryExists || !existing.has(id))).toEqual([])
}

const callsOf = async (run: (over: Deps) => Promise<unknown>): Promise<number> => {
  await begin()
  const client = store.connect()
  const calls = watchCalls(client)
  await run(store.over(client))
  return calls.length
}

/** Runs a change before each call of another change. */
const interrupt = async (outer: (over: Deps) => unknown, inner: (over: Deps) => unknown, check: () => unknown) => {
  const calls = await callsOf(async (over) => outer(over))
  for (const call of callsToTry(calls)) {
    await begin()
    const client = store.connect()
    aroundCall(client, call, async (send) => {
      await inner(deps)
      return send()
    })
    await outer(store.over(client))
    await check()
  }
}

describe.each(Object.entries(removals))('linking during %s', (_, remove) => {
  test.each([
    ['a removal', link, remove],
    ['a link', remove, link],
    ['a removal, with a link from the object,', linkFromObject, remove],
    ['a link from the object', remove, linkFromObject],
  ])('%s before each call of the other request leaves no link to removed content', (_what, outer, inner) =>
    interrupt(
      (over) => attempt(outer(over)),
      (over) => attempt(inner(over)),
      expectNoStrayLinks,
    ),
  )
})

test.each(Object.entries(removals))('a link that fails during %s is undone if it was written', async (_, remove) => {
  await begin()
  const client = store.connect()
  aroundCommands(client, 'call', async (send, { name }) => {
    if (name !== 'UpdateItemCommand') return send()
    await remove(deps)
    await send()
    throw new ServiceError('unavailable')
  })
  await expect(linkFromObject(store.over(client))).rejects.toMatchObject({ code: 100503 })
  await expectNoStrayLinks()
})

const plain = (over: Deps) => linkTo(over, newsOfCategory, [{ id: 9 }], author)
const hidden = (over: Deps) => linkTo(over, newsOfCategory, [{ id: 9, displayable: false }], author)
const cases = [
  ['the hidden link is made between the calls of the other', plain, hidden],
  ['the other link is made between the calls of the hidden one', hidden, plain],
] as const

test.each(cases)('an object that is linked hidden and shown at once stays hidden: %s', (_, outer, inner) =>
  interrupt(outer, inner, async () => {
    expect(await deps.links.list(newsOfCategory, 0, 100)).toEqual([{ id: 9, displayable: false }])
  }),
)

const renamed = (stored: Content | undefined) => {
  if (!stored) throw new ServiceError('categoryUnknown')
  return { ...stored, name: 'Six' }
}
const rename = (over: Deps) => attempt(over.contents.changeMany(site, 'category', [category], renamed, entry))
const removeCategory = async (over: Deps) => expect(await removals['the removal of the category'](over)).toBe(true)

test.each([
  ['the removal comes between', rename, removeCategory],
  ['the rename comes between', removeCategory, rename],
])('a category that is renamed during its removal stays removed (T-16): %s', (_, outer, inner) =>
  interrupt(outer, inner, async () => {
    expect(await deps.contents.get(site, 'category', category)).toBeUndefined()
  }),
)

test.each(Object.entries(removals))('a refused link after %s removes links of a killed request', async (_, remove) => {
  for (const again of [link, linkFromObject]) {
    await begin()
    await remove(deps)
    await deps.linkItems.putMany([{ ...newsOfCategory, id: gone, wanted: true }])
    expect(await attempt(again(deps))).toBe(404)
    expect(await linkedIds(deps)).toEqual([])
  }
})

const importText = (over: Deps) => {
  const merge = (stored?: Content) => mergeContent('news', stored, { id: gone, body: '<p>New</p>' }, 0)
  return over.contents.changeMany(site, 'news', [gone], merge, entry)
}

test('an object that is imported while it is removed is gone, or has its new text', () =>
  interrupt(removals['the removal of an object'], importText, async () => {
    const isThere = (await deps.contents.existing(site, 'news', ids)).has(gone)
    const texts = await deps.contents.texts(site, 'news', [gone], true)
    expect(texts).toEqual(new Map(isThere ? [[gone, '<p>New</p>']] : []))
  }))

test('a link that the index shows late is removed with its object', async () => {
  await begin()
  await link(deps)
  const client = store.connect()
  aroundCall(client, 2, async () => answering({ Items: [] }))
  await removals['the removal of an object'](store.over(client))
  expect(await linkedIds(deps)).toEqual(ids.filter((id) => id !== gone))
})

test('while an object is being removed, callers cannot see the object', async () => {
  await begin()
  await link(deps)
  const client = store.connect()
  aroundCall(client, 2, () => Promise.reject(new Error('The process has died')))
  await expect(removals['the removal of an object'](store.over(client))).rejects.toThrow('died')
  expect((await deps.contents.getMany(site, 'news', ids)).has(gone)).toBe(false)
  expect((await deps.contents.existing(site, 'news', ids)).has(gone)).toBe(false)
  expect(await deps.contents.get(site, 'news', gone)).toBeUndefined()
  const list = categoriesOfObjectList({ site, kind: 'news', id: gone })
  expect(await attempt(list.read(deps, parseListQuery(new Map(), list)))).toBe(404)
  await deps.contents.remove(site, 'news', gone, entry)
  expect(await linkedIds(deps)).toEqual(ids.filter((id) => id !== gone))
})

test('a removal of many links or many categories runs in steps', async () => {
  const many = range(1, 1_100)
  await deps.contents.putMany(site, 'category', namedCategories(many), entry)
  await fill(deps, [1])
  await deps.linkItems.putMany(
    many.map((id) => ({ ...newsOfCategory, category: id as typeof category, id: 1, wanted: true })),
  )
  expect((await deps.links.countCategoriesOf({ site, kind: 'news', id: 1 }, 0, 10_000)).count).toBe(1_100)
  expect(await deps.contents.remove(site, 'news', 1, entry)).toBe(true)
  expect((await deps.links.countCategoriesOf({ site, kind: 'news', id: 1 }, 0, 10_000)).count).toBe(0)
  expect(await deps.contents.remove(site, 'news', 1, entry)).toBe(false)
})
