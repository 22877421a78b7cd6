import { beforeEach, expect, test } from 'vitest'
import { describeWithAdmin } from '../support/admin.ts'
import { at, objectIds, range, records, useLibrary } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'
import { type Call, call } from '../support/http.ts'

const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

const library = useLibrary(records)
const items = (...ids: readonly unknown[]) => ({ items: ids.map((objectId) => ({ objectId })) })

/** Category 6 without objects, and calls about its objects of a kind. */
const useLinks = (kind: string) => {
  const path = `/categories/6/${kind}`
  const own = at('current', path)
  const linked = async () => objectIds(await library.call(`${path}?limit=500`))
  const post = (body: unknown, options: Call = {}) => library.call(path, { method: 'POST', body, ...options })
  const remove = (body: unknown, options: Call = {}, query = '') =>
    library.call(`${path}${query}`, { method: 'DELETE', body, ...options })
  beforeEach(async () => {
    await remove(items(1, 2, 3, 4))
  })
  return { path, own, linked, post, remove }
}

const kinds = ['news', 'blogs'] as const

describeWithAdmin.each(kinds)('Linking %s', (kind) => {
  const { path, own, linked, post } = useLinks(kind)

  test('Linking answers 201 with the path in Location, and no body (C-42)', async () => {
    const answer = await post(items(1, 2))
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([201, '', '0'])
    // A client that is told of JSON would parse nothing, and fail.
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    expect(answer.headers['location']).toBe(own)
    expect(await linked()).toEqual([1, 2])
  })

  test('Location is the path as the client wrote it (C-42)', async () => {
    const numeric = at(library.siteId, path)
    const answer = await call(`${numeric}?x=1`, { method: 'POST', body: items(1), token: library.token })
    expect(answer.headers['location']).toBe(numeric)
  })

  test('Linking again is no error (C-39)', async () => {
    await post(items(1, 2))
    expect((await post(items(2, 3))).status).toBe(201)
    expect(await linked()).toEqual([1, 2, 3])
  })

  test('Duplicates count once (C-37)', async () => {
    expect((await post(items(2, 2, '2'))).status).toBe(201)
    expect(await linked()).toEqual([2])
  })

  test('An objectId may be a numeric string (C-41)', async () => {
    expect((await post(items('3'))).status).toBe(201)
    expect(await linked()).toEqual([3])
  })

  test('displayable is 1 unless sent, and linking again keeps it (C-40)', async () => {
    const shown = async () => {
      const { json } = await library.call(path)
      return json.items.map(({ objectId, displayable }: Record<string, number>) => `${objectId}:${displayable}`)
    }
    await post({ items: [{ objectId: 1 }, { objectId: 2, displayable: 0 }, { objectId: 3, displayable: 1 }] })
    expect(await shown()).toEqual(['1:1', '2:0', '3:1'])
    await post(items(1, 2, 3))
    expect(await shown()).toEqual(['1:1', '2:0', '3:1'])
    await post({
      items: [
        { objectId: 1, displayable: 0 },
        { objectId: 2, displayable: 1 },
      ],
    })
    expect(await shown()).toEqual(['1:0', '2:1', '3:1'])
  })

  test('Unknown members of a link are ignored', async () => {
    expect((await post({ items: [{ objectId: 1, note: 'x' }], more: true })).status).toBe(201)
  })

  test('JSON is taken without a content type, or as a form (A-4, A-5)', async () => {
    expect((await post(JSON.stringify(items(1)))).status).toBe(201)
    expect((await post(JSON.stringify(items(2)), { headers: form })).status).toBe(201)
    expect(await linked()).toEqual([1, 2])
  })
})

describeWithAdmin.each(kinds)('Refusals to link %s', (kind) => {
  const { linked, post } = useLinks(kind)

  test('Unknown objects answer 404/220002, and nothing is linked (C-38, E-26)', async () => {
    const answer = await post(items(1, 99, 2, 98))
    expectError(answer, 404, 220002)
    expect(answer.json.errors.map((problem: { path: string }) => problem.path)).toEqual([
      'items[1].objectId',
      'items[3].objectId',
    ])
    expect(await linked()).toEqual([])
  })

  test('An unknown category answers 404/220001 to a link (C-8, E-25)', async () => {
    expectError(await library.call(`/categories/77/${kind}`, { method: 'POST', body: items(1) }), 404, 220001)
  })

  test.each([
    ['a missing list', {}, 'items'],
    ['an empty list', { items: [] }, 'items'],
    ['a list that is none', { items: { objectId: 1 } }, 'items'],
    ['a text for a list', { items: '[1]' }, 'items'],
    ['null for a list', { items: null }, 'items'],
    ['more than 500', items(...range(1, 501)), 'items'],
    ['a negative id', items(1, -2), 'items[1].objectId'],
    ['an id of 0', items(0), 'items[0].objectId'],
    ['a fraction', items(1.5), 'items[0].objectId'],
    ['an id that is too large', items(2147483648), 'items[0].objectId'],
    ['an id that is none', items('one'), 'items[0].objectId'],
    ['a missing id', { items: [{}] }, 'items[0].objectId'],
    ['an entry that is no object', { items: [1] }, 'items[0]'],
    ['a displayable of 2', { items: [{ objectId: 1, displayable: 2 }] }, 'items[0].displayable'],
  ])('A link with %s is refused with 220000 (C-37, C-40, E-24)', async (_, body, where) => {
    const answer = await post(body)
    expectError(answer, 400, 220000)
    expect(answer.json.errors.map((problem: { path: string }) => problem.path)).toEqual([where])
    expect(await linked()).toEqual([])
  })

  test('Every bad item of a link is listed by its index (E-2)', async () => {
    const { json } = await post({ items: [{ objectId: -1 }, { objectId: 1 }, { objectId: 1.5 }, {}] })
    expect(json.errors.map((problem: { path: string }) => problem.path)).toEqual([
      'items[0].objectId',
      'items[2].objectId',
      'items[3].objectId',
    ])
  })

  test.each(['', '{', '[]', 'null', '"x"', '{"items":[{"objectId":1}]'])(
    'The body %j does not link: 220000 (E-24)',
    async (body) => {
      expectError(await post(body), 400, 220000)
    },
  )

  test('Form data declared as JSON does not link: 220000 (E-24)', async () => {
    const headers = { 'Content-Type': 'application/json' }
    expectError(await post('items[0][objectId]=1', { headers }), 400, 220000)
  })

  test('Form data does not link: 415/100015 (E-11)', async () => {
    expectError(await post('items[0][objectId]=1', { headers: form }), 415, 100015)
  })
})

describeWithAdmin.each(kinds)('Unlinking %s', (kind) => {
  const { own, linked, post, remove } = useLinks(kind)

  beforeEach(async () => {
    await post(items(1, 2, 3, 4))
  })

  test('Unlinking answers 204 with the path in Location (C-42, C-43)', async () => {
    const answer = await remove(items(1, 2))
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers['content-type'] ?? 'text/plain').toMatch(/^text\/plain/)
    expect(answer.headers['location']).toBe(own)
    expect(await linked()).toEqual([3, 4])
  })

  test('Unlinking what is not linked is no error (C-43)', async () => {
    expect((await remove(items(1, 99))).status).toBe(204)
    expect((await remove(items(1, 99))).status).toBe(204)
    expect(await linked()).toEqual([2, 3, 4])
  })

  test.each([
    ['[{"objectId":1},{"objectId":2}]', [3, 4]],
    ["[{objectId:'1'}]", [2, 3, 4]],
    ['[1,2]', [3, 4]],
    ['1', [2, 3, 4]],
    ['{objectId:1}', [2, 3, 4]],
  ])('Unlinking takes items=%s in the query (C-44)', async (text, left) => {
    const query = `?_=170000&items=${encodeURIComponent(text)}`
    expect((await remove(undefined, {}, query)).status).toBe(204)
    expect(await linked()).toEqual(left)
  })

  test('Unlinking takes a query beside an empty body of any type (C-44)', async () => {
    for (const [index, type] of ['application/json', 'application/x-www-form-urlencoded'].entries()) {
      const { status } = await remove(undefined, { headers: { 'Content-Type': type } }, `?items=${index + 1}`)
      expect(status).toBe(204)
    }
    expect(await linked()).toEqual([3, 4])
  })

  test('Unlinking takes form data, however it is written (C-45)', async () => {
    const bodies = [
      ['items[0][objectId]=1&items[1][objectId]=2', [3, 4]],
      [`${encodeURIComponent('items[0][objectId]')}=1`, [2, 3, 4]],
      ['items[]=1&items[]=3', [2, 4]],
      ['items=[1,2,3]', [4]],
      ['{"items":[{"objectId":1}]}', [2, 3, 4]],
    ] as const
    for (const [body, left] of bodies) {
      await post(items(1, 2, 3, 4))
      expect((await remove(body, { headers: form })).status, body).toBe(204)
      expect(await linked(), body).toEqual(left)
    }
  })

  test.each([
    ['application/json', 'items%5B0%5D%5BobjectId%5D=1&items%5B1%5D%5BobjectId%5D=2', [3, 4]],
    ['application/json; charset=utf-8', 'items[0][objectId]=1', [2, 3, 4]],
    ['application/json', 'items[]=1&items[]=3', [2, 4]],
    ['application/json', '_=170000&items=[1,2,3]', [4]],
    ['', 'items=1', [2, 3, 4]],
  ])('Unlinking takes form data declared as %j: %s (C-45)', async (type, body, left) => {
    expect((await remove(body, { headers: { 'Content-Type': type } })).status).toBe(204)
    expect(await linked()).toEqual(left)
  })
})

describeWithAdmin.each(kinds)('Refusals to unlink %s', (kind) => {
  const { linked, post, remove } = useLinks(kind)

  beforeEach(async () => {
    await post(items(1, 2, 3, 4))
  })

  test.each(['items', '=1', 'items[0][objectId]=one', 'objects=1', '"items=1"', '1'])(
    'The body %j as JSON does not unlink: 220000 (E-24)',
    async (body) => {
      expectError(await remove(body, { headers: { 'Content-Type': 'application/json' } }), 400, 220000)
      expect(await linked()).toEqual([1, 2, 3, 4])
    },
  )

  test('Unlinking takes up to 500 items (C-37)', async () => {
    expect((await remove(items(...range(1, 499), 1))).status).toBe(204)
    expect(await linked()).toEqual([])
    expectError(await remove(items(...range(1, 501))), 400, 220000)
  })

  test('An unknown category answers 404/220001 to an unlinking (C-8)', async () => {
    expectError(await library.call(`/categories/77/${kind}`, { method: 'DELETE', body: items(1) }), 404, 220001)
  })

  test.each([
    ['nothing at all', undefined, ''],
    ['no items in the query', undefined, '?item=1'],
    ['empty items in the query', undefined, '?items='],
    ['items that are no JSON', undefined, '?items=%5B1'],
    ['no list', { items: {} }, ''],
    ['an empty list', { items: [] }, ''],
    ['a negative id', items(-1), ''],
    ['a fraction', undefined, '?items=1.5'],
    ['a word', undefined, '?items=abc'],
  ])('A request with %s does not unlink: 220000 (E-24)', async (_, body, query) => {
    expectError(await remove(body, {}, query), 400, 220000)
    expect(await linked()).toEqual([1, 2, 3, 4])
  })
})
