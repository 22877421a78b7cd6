import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeWithAdmin } from '../support/admin.ts'
import { at, range, records, useLibrary } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'
import { type Call, call, pathWithBase } from '../support/http.ts'

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
const asJson = { 'Content-Type': 'application/json' }
const library = useLibrary([...records, ...range(7, 8).map((id) => ({ kind: 'category', id, name: `Category ${id}` }))])

/** Links from category 6 to objects, and from object 4 to categories. Paths in `strangers` name missing ones. */
const sides = ['news', 'blogs'].flatMap((kind) => [
  {
    what: `${kind} with a category`,
    path: `/categories/6/${kind}`,
    member: 'objectId',
    ids: [1, 2, 3, 4],
    inCategory: (id: number) => [`/categories/6/${kind}`, id] as const,
    strangers: ['77', 'abc', '0', '2147483648'].map((id) => `/categories/${id}/${kind}`),
    codes: { stranger: 220001, unknown: 220002 },
  },
  {
    what: `one object of ${kind} and several categories`,
    path: `/${kind}/4/categories`,
    member: 'categoryId',
    ids: [5, 6, 7, 8],
    inCategory: (id: number) => [`/categories/${id}/${kind}`, 4] as const,
    strangers: ['99', 'abc', '0', '2147483648'].map((id) => `/${kind}/${id}/categories`),
    codes: { stranger: 220002, unknown: 220001 },
  },
])
type Side = (typeof sides)[number]
/** The same code refuses and unlinks both kinds, so these cases use only news. */
const sidesOfNews = sides.filter(({ path }) => path.includes('/news'))

const useLinks = ({ path, member, ids, inCategory }: Side) => {
  const items = (...given: readonly unknown[]) => ({ items: given.map((id) => ({ [member]: id })) })
  return {
    own: at('current', path),
    items,
    /** Replaces ID with the name of the member, and #1 to #4 with the four ids. */
    fill: (text: string) => text.replaceAll('ID', member).replaceAll(/#([1-4])/g, (_, n) => String(ids[n - 1])),
    /** The positions, 1 to 4, of the linked ids. */
    async linked(): Promise<number[]> {
      const { json } = await library.call(`${path}?limit=500`)
      const found = json.items.map((item: Record<string, number>) => item[member] ?? item['id'])
      return ids.flatMap((id, index) => (found.includes(id) ? [index + 1] : []))
    },
    async displayable(id: number | undefined): Promise<number | undefined> {
      const [list, objectId] = inCategory(id ?? 0)
      const { json } = await library.call(`${list}?limit=500`)
      return json.items.find((item: Record<string, number>) => item['objectId'] === objectId)?.displayable
    },
    post: (body: unknown, options: Call = {}) => library.call(path, { method: 'POST', body, ...options }),
    remove: (body: unknown, options: Call = {}, query = '') =>
      library.call(`${path}${query}`, { method: 'DELETE', body, ...options }),
    unlinkAll: () => library.call(path, { method: 'DELETE', body: items(...ids) }),
    linkAll: () => library.call(path, { method: 'POST', body: items(...ids) }),
  }
}

const pathsOf = ({ json }: { readonly json: { readonly errors: readonly { readonly path: string }[] } }) =>
  json.errors.map(({ path }) => path)

describeWithAdmin.each(sides)('Linking $what', (side) => {
  const { own, items, linked, displayable, post, unlinkAll } = useLinks(side)
  const [one, two, three] = side.ids

  beforeEach(unlinkAll)

  test('Linking answers 201 without a body, and with the sent path (C-37, C-42, C-46)', async () => {
    const answer = await post(items(one, two))
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([201, '', '0'])
    // With a JSON type, clients would fail to parse the empty body.
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    expect(answer.headers['location']).toBe(pathWithBase(own))
    expect(await linked()).toEqual([1, 2])
    const numeric = at(library.siteId, side.path)
    const again = await call(`${numeric}?x=1`, { method: 'POST', body: items(one), token: library.token })
    expect(again.headers['location']).toBe(pathWithBase(numeric))
  })

  test('An item that is sent twice or already linked is linked once (C-37, C-39, C-41)', async () => {
    const body = { items: [...items(two, String(two)).items, { [side.member]: two, note: 'x' }], more: true }
    expect((await post(body)).status).toBe(201)
    expect(await linked()).toEqual([2])
    expect((await post(items(two, three))).status).toBe(201)
    expect(await linked()).toEqual([2, 3])
  })

  test('If an item is sent twice, its last value of displayable is stored (C-41)', async () => {
    const sent = (id: number | undefined, ...flags: readonly (0 | 1 | undefined)[]) =>
      flags.map((displayable) => ({ [side.member]: id, displayable }))
    await post({ items: [...sent(one, 1, 0), ...sent(two, 0, 1), ...sent(three, 0, undefined)] })
    expect([await displayable(one), await displayable(two), await displayable(three)]).toEqual([0, 1, 0])
  })

  test('displayable is 1 by default, and linking again keeps the value (C-40, C-46)', async () => {
    const shown = async () => [await displayable(one), await displayable(two), await displayable(three)]
    await post({ items: [...items(one).items, { [side.member]: two, displayable: 0 }] })
    expect(await shown()).toEqual([1, 0, undefined])
    await post(items(one, two))
    expect(await shown()).toEqual([1, 0, undefined])
    await post({ items: [one, two].map((id, index) => ({ [side.member]: id, displayable: String(index) })) })
    expect(await shown()).toEqual([0, 1, undefined])
  })
})

describeWithAdmin.each(sidesOfNews)('Refusals to link $what', (side) => {
  const { items, linked, post, unlinkAll } = useLinks(side)
  const [one, two] = side.ids

  beforeAll(unlinkAll)

  test('Linking unknown items answers 404 and links none of the items (C-38, C-48, E-26)', async () => {
    const answer = await post(items(one, 99, two, 98))
    expectError(answer, 404, side.codes.unknown)
    expect(pathsOf(answer)).toEqual([`items[1].${side.member}`, `items[3].${side.member}`])
    expect(await linked()).toEqual([])
  })

  test('An unknown category or object in the path answers 404 (C-8, C-47, E-25)', async () => {
    for (const path of side.strangers) {
      for (const method of ['POST', 'DELETE']) {
        expectError(await library.call(path, { method, body: items(one, 99) }), 404, side.codes.stranger)
      }
    }
  })

  const id = (value: unknown) => ({ items: [{ [side.member]: value }] })
  test.each([
    ['a missing list', {}, 'items'],
    ['an empty list', { items: [] }, 'items'],
    ['an object in place of a list', { items: { [side.member]: 1 } }, 'items'],
    ['a text in place of a list', { items: '[1]' }, 'items'],
    ['null in place of a list', { items: null }, 'items'],
    ['more than 500 items', items(...range(1, 501).map((id) => -id)), 'items'],
    ['a missing id', { items: [{}] }, 'items[0].ID'],
    ['the id in a wrong member', { items: [{ id: 6 }] }, 'items[0].ID'],
    ['an entry that is a number', { items: [1] }, 'items[0]'],
    ['a displayable of 2', { items: [{ [side.member]: one, displayable: 2 }] }, 'items[0].displayable'],
  ])('A request to link with %s is refused with 220000 (C-37, C-40, E-24)', async (_, body, where) => {
    const answer = await post(body)
    expectError(answer, 400, 220000)
    expect(pathsOf(answer)).toEqual([where.replace('ID', side.member)])
    expect(await linked()).toEqual([])
  })

  const bad = [-2, 0, 1.5, 1e20, 2147483648, 'one', '0', '-1', '2147483648', '999999999999999', '', null, [], {}, true]
  test.each(bad)('A request to link the id %j is refused with 220000 (C-37)', async (value) => {
    const answer = await post(id(value))
    expectError(answer, 400, 220000)
    expect(pathsOf(answer)).toEqual([`items[0].${side.member}`])
  })

  test('The answer lists each bad item by its index (E-2)', async () => {
    const answer = await post({ items: [...items(-1, one, 1.5).items, {}] })
    expect(pathsOf(answer)).toEqual([0, 2, 3].map((index) => `items[${index}].${side.member}`))
  })

  const badBodies = ['', '{', '[]', 'null', '"x"', '{"items":[{"objectId":1}]', `items[0][${side.member}]=1`]
  test.each(badBodies)('A request to link with the body %j answers 220000 (E-24)', async (body) => {
    expectError(await post(body, { headers: asJson }), 400, 220000)
  })

  test('A request to link with form data answers 415/100015 (E-11)', async () => {
    expectError(await post(`items[0][${side.member}]=${one}`, { headers: form }), 415, 100015)
  })
})

describeWithAdmin.each(sidesOfNews)('Unlinking $what', (side) => {
  const { own, items, fill, linked, linkAll, remove } = useLinks(side)
  const [one, two] = side.ids
  const most = [...Array.from({ length: 497 }, () => one), ...side.ids.slice(1)]

  beforeEach(async () => {
    await linkAll()
  })

  test('Unlinking answers 204 with the path in Location (C-42, C-43, C-46)', async () => {
    const answer = await remove(items(one, String(two)))
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers['content-type'] ?? 'text/plain').toMatch(/^text\/plain/)
    expect(answer.headers['location']).toBe(pathWithBase(own))
    expect(await linked()).toEqual([3, 4])
    // The first item is no longer linked.
    expect((await remove(items(one))).status).toBe(204)
  })

  test.each([
    ['[{"ID":#1},{"ID":#2}]', [3, 4]],
    ["[{ID:'#1'}]", [2, 3, 4]],
    ['[#1,#2]', [3, 4]],
    [' [ "#1", #2, ] ', [3, 4]],
    ['#1', [2, 3, 4]],
    ['{ID:#1}', [2, 3, 4]],
  ])('DELETE unlinks the items of the query items=%s (C-44)', async (text, left) => {
    const query = `?_=170000&items=${encodeURIComponent(fill(text))}`
    expect((await remove(undefined, {}, query)).status).toBe(204)
    expect(await linked()).toEqual(left)
  })

  const types = [asJson, form, { 'Content-Type': 'text/plain;charset=UTF-8' }]
  test.each(types)('With no body and %o, DELETE unlinks the items of the query (A-4, C-44)', async (headers) => {
    expect((await remove(undefined, { headers }, `?items=${one}`)).status).toBe(204)
    expect(await linked()).toEqual([2, 3, 4])
  })

  test('DELETE accepts form data in every spelling (C-45)', async () => {
    const bodies = [
      ['items[0][ID]=#1&items[1][ID]=#2', [3, 4]],
      [`${encodeURIComponent('items[0][ID]')}=#1`, [2, 3, 4]],
      ['items[]=#1&items[]=#3', [2, 4]],
      ['items[500]=#1', [2, 3, 4]],
      ['items=%5B#1%2C+#2%5D&b', [3, 4]],
      [`items=#1${'&a=1'.repeat(1_999)}`, [2, 3, 4]],
      ['items=[#1,#2,#3]', [4]],
      ['{"items":[{"ID":#1}]}', [2, 3, 4]],
      [most.map((id, index) => `items[${index}][ID]=${id}`).join('&'), []],
    ] as const
    for (const [body, left] of bodies) {
      await linkAll()
      expect((await remove(fill(body), { headers: form })).status, body).toBe(204)
      expect(await linked(), body).toEqual(left)
    }
  })

  test.each([
    ['application/json', 'items%5B0%5D%5BID%5D=#1&items%5B1%5D%5BID%5D=#2', [3, 4]],
    ['application/json; charset=utf-8', 'items[0][ID]=#1', [2, 3, 4]],
    ['application/json', 'items[]=#1&items[]=#3', [2, 4]],
    ['application/json', '_=170000&items=[#1,#2,#3]', [4]],
    ['', 'items=#1', [2, 3, 4]],
  ])('DELETE accepts form data with the Content-Type %j: %s (C-45)', async (type, body, left) => {
    expect((await remove(fill(body), { headers: { 'Content-Type': type } })).status).toBe(204)
    expect(await linked()).toEqual(left)
  })

  test('DELETE unlinks up to 500 items (C-37)', async () => {
    const { status } = await remove(items(...most))
    expect([status, await linked()]).toEqual([204, []])
  })
})

describeWithAdmin.each(sidesOfNews)('Refusals to unlink $what', (side) => {
  const { items, linked, linkAll, remove } = useLinks(side)

  beforeAll(async () => {
    await linkAll()
  })

  test('Unlinking an unknown object answers 204, an unknown category 404 (C-43, C-48)', async () => {
    const answer = await remove(items(99))
    if (side.member === 'objectId') expect(answer.status).toBe(204)
    else expectError(answer, 404, 220001)
    expect(await linked()).toEqual([1, 2, 3, 4])
  })

  test('A form with more than 500 items is told the limit (C-37, C-45)', async () => {
    for (const name of ['items', 'items[]']) {
      const answer = await remove(Array(501).fill(`${name}=1`).join('&'), { headers: asJson })
      expect(answer).toMatchObject({ status: 400, json: { message: expect.stringContaining('500 entries or fewer') } })
    }
  })

  test.each<[string, unknown, string, Call['headers']?]>([
    ...['items', '=1', 'items[0][objectId]=one', 'objects=1', '"items=1"', '1'].map(
      (body) => [`the body ${body}`, body, '', asJson] as [string, unknown, string, Call['headers']],
    ),
    ['nothing at all', undefined, ''],
    ['no items in the query', undefined, '?item=1'],
    ['empty items in the query', undefined, '?items='],
    ['items that are not JSON', undefined, '?items=%5B1'],
    ['a list in the list of items', undefined, '?items=%5B%5B1%5D%5D'],
    ['null in the list of items', { items: [null] }, ''],
    ['NaN', undefined, '?items=NaN'],
    ['an infinite number', undefined, '?items=1e3000'],
    ['2,001 pairs', `items=1${'&a=1'.repeat(2_000)}`, '', form],
    ['the index 501', 'items[501]=1', '', form],
    ['an index that is far too large', 'items[999999999]=1', '', form],
    ['60,000 brackets', { items: '['.repeat(30_000) + ']'.repeat(30_000) }, ''],
    ['no list', { items: {} }, ''],
    ['an empty list', { items: [] }, ''],
    ['more than 500 items', items(...range(1, 501)), ''],
    ['a negative id', items(-1), ''],
    ['a fraction', undefined, '?items=1.5'],
    ['a word', undefined, '?items=abc'],
  ])('A request to unlink with %s answers 220000 and unlinks nothing (E-24)', async (_, body, query, headers) => {
    expectError(await remove(body, headers ? { headers } : {}, query), 400, 220000)
    expect(await linked()).toEqual([1, 2, 3, 4])
  })
})
