import { beforeEach, expect, test } from 'vitest'
import { describeWithAdmin } from '../support/admin.ts'
import { at, objectIds, range, records, useLibrary } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'
import { type Call, call } from '../support/http.ts'

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

const library = useLibrary([...records, ...range(7, 8).map((id) => ({ kind: 'category', id, name: `Category ${id}` }))])
const items = (...ids: readonly unknown[]) => ({ items: ids.map((categoryId) => ({ categoryId })) })
const pathsOf = ({ json }: { readonly json: { readonly errors: readonly { readonly path: string }[] } }) =>
  json.errors.map((problem) => problem.path)

/** Object 4 of a kind without categories, and calls about its categories. */
const useLinks = (kind: string) => {
  const path = `/${kind}/4/categories`
  const own = at('current', path)
  const linked = async (): Promise<number[]> =>
    (await library.call(`${path}?limit=500`)).json.items.map(({ id }: { id: number }) => id)
  const post = (body: unknown, options: Call = {}) => library.call(path, { method: 'POST', body, ...options })
  const remove = (body: unknown, options: Call = {}, query = '') =>
    library.call(`${path}${query}`, { method: 'DELETE', body, ...options })
  beforeEach(async () => {
    await remove(items(5, 6, 7, 8))
  })
  return { path, own, linked, post, remove }
}

const kinds = ['news', 'blogs'] as const

describeWithAdmin.each(kinds)('Linking one of the %s with categories', (kind) => {
  const { path, own, linked, post } = useLinks(kind)

  test('Linking answers 201 with the path in Location (C-42, C-46)', async () => {
    const answer = await post(items(6, 7))
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([201, '', '0'])
    expect(answer.headers['location']).toBe(own)
    expect(await linked()).toEqual([6, 7])
    const numeric = at(library.siteId, path)
    const again = await call(`${numeric}?x=1`, { method: 'POST', body: items(6), token: library.token })
    expect(again.headers['location']).toBe(numeric)
  })

  test('Links made from the object are those of the category (C-46)', async () => {
    await post({ items: [{ categoryId: 6 }, { categoryId: 7, displayable: 0 }] })
    const shown = async (category: number) => (await library.call(`/categories/${category}/${kind}`)).json.items
    expect(await shown(6)).toMatchObject([{ objectId: 4, categoryId: 6, displayable: 1 }])
    expect(await shown(7)).toMatchObject([{ objectId: 4, categoryId: 7, displayable: 0 }])
    expect(await shown(8)).toEqual([])
  })

  test('Linking again keeps displayable unless it is sent (C-39, C-40)', async () => {
    const displayable = async () => (await library.call(`/categories/6/${kind}`)).json.items[0].displayable
    await post({ items: [{ categoryId: 6, displayable: 0 }] })
    expect((await post(items(6, 7))).status).toBe(201)
    expect([await linked(), await displayable()]).toEqual([[6, 7], 0])
    await post({ items: [{ categoryId: 6, displayable: '1' }] })
    expect(await displayable()).toBe(1)
  })

  test('A category counts once, and its id may be a text (C-37, C-41)', async () => {
    expect((await post({ items: [{ categoryId: '6', note: 'x' }, { categoryId: 6 }], more: true })).status).toBe(201)
    expect(await linked()).toEqual([6])
  })

  test('Unknown categories answer 404/220001 and link nothing (C-48)', async () => {
    const answer = await post(items(6, 99, 7, 98))
    expectError(answer, 404, 220001)
    expect(pathsOf(answer)).toEqual(['items[1].categoryId', 'items[3].categoryId'])
    expect(await linked()).toEqual([])
  })

  test('An unknown object answers 404/220002 to a link (C-47)', async () => {
    for (const id of ['99', 'abc', '0', '2147483648']) {
      const answer = await library.call(`/${kind}/${id}/categories`, { method: 'POST', body: items(6, 99) })
      expectError(answer, 404, 220002)
    }
  })

  test.each([
    ['a missing list', {}, 'items'],
    ['an empty list', { items: [] }, 'items'],
    ['a text for a list', { items: '[6]' }, 'items'],
    ['more than 500', items(...range(1, 501)), 'items'],
    ['a fraction', items(6, 1.5), 'items[1].categoryId'],
    ['an id of 0', items(0), 'items[0].categoryId'],
    ['the id of an object', { items: [{ objectId: 6 }] }, 'items[0].categoryId'],
    ['an entry that is no object', { items: [6] }, 'items[0]'],
    ['a displayable of 2', { items: [{ categoryId: 6, displayable: 2 }] }, 'items[0].displayable'],
  ])('A body with %s is refused with 220000 (C-37, E-24)', async (_, body, where) => {
    const answer = await post(body)
    expectError(answer, 400, 220000)
    expect(pathsOf(answer)).toEqual([where])
    expect(await linked()).toEqual([])
  })

  test('Form data and an empty body do not link (E-11, E-24)', async () => {
    expectError(await post('items[0][categoryId]=6', { headers: form }), 415, 100015)
    expectError(await post(undefined), 400, 220000)
  })
})

describeWithAdmin.each(kinds)('Unlinking one of the %s from categories', (kind) => {
  const { own, linked, post, remove } = useLinks(kind)

  beforeEach(async () => {
    await post(items(6, 7, 8))
  })

  test('Unlinking answers 204 with the path in Location (C-42, C-46)', async () => {
    const answer = await remove(items(6, '7'))
    expect([answer.status, answer.text, answer.headers['location']]).toEqual([204, '', own])
    expect(await linked()).toEqual([8])
    expect(objectIds(await library.call(`/categories/6/${kind}`))).toEqual([])
  })

  test('Unlinking what is not linked is no error (C-43)', async () => {
    expect((await remove(items(5, 6))).status).toBe(204)
    expect((await remove(items(5, 6))).status).toBe(204)
    expect(await linked()).toEqual([7, 8])
  })

  test.each([
    ['[{"categoryId":6},{"categoryId":7}]', [8]],
    ["[{categoryId:'6'}]", [7, 8]],
    ['[6,7]', [8]],
    ['6', [7, 8]],
  ])('Unlinking takes items=%s in the query (C-44)', async (text, left) => {
    expect((await remove(undefined, {}, `?items=${encodeURIComponent(text)}`)).status).toBe(204)
    expect(await linked()).toEqual(left)
  })

  test('Unlinking takes form data, however it is written (C-45)', async () => {
    expect((await remove('items[0][categoryId]=6&items[1][categoryId]=7', { headers: form })).status).toBe(204)
    expect(await linked()).toEqual([8])
    expect((await remove('{"items":[{"categoryId":8}]}', { headers: form })).status).toBe(204)
    expect(await linked()).toEqual([])
  })

  test.each([
    ['items%5B0%5D%5BcategoryId%5D=6', [7, 8]],
    ['items=[6,8]', [7]],
  ])('Unlinking takes form data declared as JSON: %s (C-45)', async (body, left) => {
    expect((await remove(body, { headers: { 'Content-Type': 'application/json' } })).status).toBe(204)
    expect(await linked()).toEqual(left)
  })

  test('Unknown categories answer 404/220001 and unlink nothing (C-48)', async () => {
    const answer = await remove(items(6, 99))
    expectError(answer, 404, 220001)
    expect(pathsOf(answer)).toEqual(['items[1].categoryId'])
    expect(await linked()).toEqual([6, 7, 8])
  })

  test('An unknown object answers 404/220002 to an unlinking (C-47)', async () => {
    expectError(await library.call(`/${kind}/99/categories`, { method: 'DELETE', body: items(6) }), 404, 220002)
  })

  test.each([
    ['nothing at all', undefined, ''],
    ['empty items in the query', undefined, '?items='],
    ['an empty list', { items: [] }, ''],
    ['a fraction', undefined, '?items=1.5'],
  ])('A request with %s does not unlink: 220000 (E-24)', async (_, body, query) => {
    expectError(await remove(body, {}, query), 400, 220000)
    expect(await linked()).toEqual([6, 7, 8])
  })
})
