import { expect, test } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { addField, fieldsOf, formWith, layoutOf, ownSiteId, site } from '../support/forms.ts'
import { call, callPatiently } from '../support/http.ts'

const create = (form: number, body: unknown, headers: Record<string, string> = {}) =>
  call(fieldsOf(form), { method: 'POST', body, headers })

/** Lists in each other, this many levels deep. */
const listsInLists = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

test('POST of a field answers 201 with id, self link and Location (F-14, F-7)', async () => {
  const form = await formWith()
  const { status, json, headers } = await create(form, { type: { id: -2 }, mandatory: true })
  const uri = expect.stringMatching(
    new RegExp(`/api/v1/admin/sites/${await ownSiteId()}/webforms/${form}/fields/system/-2$`),
  )
  expect({ status, json }).toEqual({ status: 201, json: { links: [{ rel: 'self', uri }], id: -2 } })
  expect(headers['location']).toBe(json.links[0].uri)
  expect((await call('', { baseUrl: json.links[0].uri })).json).toMatchObject({ id: -2, mandatory: true })
})

test.each([
  ['without an order gets the highest order plus 1 (F-16)', [1, 7, 3], undefined, '-2@1 -5@3 -3@7 -7@8'],
  ['moves the field at its order down (F-23)', [1, 2, 3], 2, '-2@1 -7@2 -3@3 -5@4'],
  ['moves other fields down only as far as the first gap (F-23)', [1, 2, 5], 1, '-7@1 -2@2 -3@3 -5@5'],
  ['keeps the gaps in the order (F-22)', [3, 10, 12], 6, '-2@3 -7@6 -3@10 -5@12'],
])('A new field %s', async (_, [one, two, three], order, layout) => {
  const form = await formWith({ id: -2, order: one }, { id: -3, order: two }, { id: -5, order: three })
  await addField(form, { id: -7, order })
  expect(await layoutOf(form)).toBe(layout)
})

test('A field of each of the 33 types can be created, with that name (F-10, F-11)', async () => {
  const { json: catalogue } = await call(`${site}/webformfieldtypes/system`)
  const form = await formWith()
  for (const { id } of catalogue.items) {
    expect(await create(form, { type: { id }, mandatory: false })).toMatchObject({ status: 201, json: { id } })
  }
  const { json } = await call(fieldsOf(form))
  const expected = catalogue.items.map((type: { name: string }) => ({ type, name: type.name }))
  expect(json).toMatchObject({ items: expected, totalItemsCount: 33 })
})

test('The id of a type may be a string, and unknown members are ignored (F-17, F-20)', async () => {
  const form = await formWith()
  const body = { type: { id: '-304', name: 'x', y: 1 }, mandatory: true, id: 5, links: [], constructor: 'red' }
  const answer = await create(form, { ...body, deep: listsInLists(31) })
  expect(answer).toMatchObject({ status: 201, json: { id: -304 } })
})

test('A field is refused if a field would move beyond the highest order (F-22, F-23)', async () => {
  const highest = 2 ** 31 - 1
  const form = await formWith({ id: -2, order: highest - 1 }, { id: -3, order: highest })
  for (const order of [highest, highest - 1, undefined]) {
    const answer = await create(form, { type: { id: -7 }, mandatory: true, order })
    expectError(answer, 400, 115000)
    expect(answer.json.message).toContain('order')
  }
  expect((await create(form, { type: { id: -7 }, mandatory: true, order: highest - 2 })).status).toBe(201)
})

test('A second field of the same type is refused with 115006 (F-13, E-23)', async () => {
  const form = await formWith({ id: -2 })
  expectError(await create(form, { type: { id: -2 }, mandatory: true }), 403, 115006)
  expect(await layoutOf(form)).toBe('-2@1')
})

test('Fifty concurrent changes of one form are all stored (F-21)', async () => {
  const { json: catalogue } = await call(`${site}/webformfieldtypes/system`)
  const types: number[] = catalogue.items.map(({ id }: { id: number }) => id)
  const form = await formWith(...types.slice(0, 17).map((id) => ({ id })))
  const change = (method: string, path: string, body: object) => callPatiently(path, { method, body })
  const adding = types.slice(17).map((id) => change('POST', fieldsOf(form), { type: { id }, mandatory: false }))
  const changing = types.slice(0, 17).map((id) => change('PUT', `${fieldsOf(form)}/${id}`, { mandatory: true }))
  const moving = types.slice(0, 17).map((id, index) => change('PUT', `${fieldsOf(form)}/${id}`, { order: 100 + index }))
  const answers = await Promise.all([...adding, ...changing, ...moving])
  // A busy store may lose the answer to an addition. The repeated request then finds the field, and answers 115006.
  expect(answers.filter(({ status, json }) => status >= 300 && json.code !== 115006)).toEqual([])
  const { json } = await call(fieldsOf(form))
  expect(json.totalItemsCount).toBe(33)
  const moved = json.items.filter(({ id }: { id: number }) => types.slice(0, 17).includes(id))
  expect(moved.every(({ mandatory, order }: { mandatory: boolean; order: number }) => mandatory && order >= 100)).toBe(
    true,
  )
}, 120_000)

const valid = { type: { id: -2 }, mandatory: true }
test.each<[string, unknown, string]>([
  ['no mandatory (F-15)', { type: { id: -2 } }, 'mandatory'],
  ['a string for mandatory', { ...valid, mandatory: 'true' }, 'mandatory'],
  ['a number for mandatory', { ...valid, mandatory: 1 }, 'mandatory'],
  ['mandatory null', { ...valid, mandatory: null }, 'mandatory'],
  ['no type', { mandatory: true }, 'type'],
  ['a number for type', { type: -2, mandatory: true }, 'type'],
  ['a list for type', { type: [-2], mandatory: true }, 'type'],
  ['no identifier', { type: {}, mandatory: true }, 'type.id'],
  ['an unknown identifier (F-10)', { type: { id: -1 }, mandatory: true }, 'type.id'],
  ['a positive identifier', { type: { id: 2 }, mandatory: true }, 'type.id'],
  ['a fractional identifier', { type: { id: -2.5 }, mandatory: true }, 'type.id'],
  ['letters for the id of the type', { type: { id: 'abc' }, mandatory: true }, 'type.id'],
  ['a blank in the id of the type', { type: { id: ' -2' }, mandatory: true }, 'type.id'],
  ['ImageVerification (F-12)', { type: { id: -400 }, mandatory: true }, 'type.id'],
  ['order 0 (F-22)', { ...valid, order: 0 }, 'order'],
  ['order -1', { ...valid, order: -1 }, 'order'],
  ['order 1.5 (F-22)', { ...valid, order: 1.5 }, 'order'],
  ['order 1e99', { ...valid, order: 1e99 }, 'order'],
  ['order 2 to the power of 31', { ...valid, order: 2 ** 31 }, 'order'],
  ['letters for order', { ...valid, order: 'first' }, 'order'],
  ['order null', { ...valid, order: null }, 'order'],
  ['an object for order', { ...valid, order: {} }, 'order'],
])('A new field with %s is refused with 115000 (E-20)', async (_, body, member) => {
  const form = await formWith({ id: -3 })
  const answer = await create(form, body)
  expectError(answer, 400, 115000)
  expect(answer.json.errors).toEqual([{ path: member, message: expect.not.stringMatching(/Invalid input/) }])
  expect(answer.json.message).toMatch(new RegExp(`^${member}: `))
  expect(await layoutOf(form)).toBe('-3@1')
})

test.each<[string, string]>([
  ['nothing', ''],
  ['half a JSON object', '{"type":{"id":-2},"mandatory":'],
  ['a text', '"hello"'],
  ['a number', '7'],
  ['null', 'null'],
  ['a list', '[]'],
  ['a trailing comma', '{"type":{"id":-2},"mandatory":true,}'],
  ['two values', '{"type":{"id":-2},"mandatory":true}{}'],
  ['a __proto__ member', '{"__proto__":{"x":1},"type":{"id":-2},"mandatory":true}'],
  ['an escaped __proto__ member', '{"\\u005f_proto__":{"x":1},"type":{"id":-2},"mandatory":true}'],
  ['a nested __proto__ member', '{"type":{"id":-2,"__proto__":{"x":1}},"mandatory":true}'],
  ['30,000 levels', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ['33 levels', JSON.stringify({ type: { id: -2 }, mandatory: true, x: listsInLists(32) })],
  ['single quotes', "{'type':{'id':-2},'mandatory':true}"],
  ['a number that JSON does not have', '{"type":{"id":-2},"mandatory":true,"x":NaN}'],
  ['a prototype in a constructor', '{"type":{"id":-2},"mandatory":true,"constructor":{"prototype":{}}}'],
])('A body with %s is refused with 115000 (E-20)', async (_, body) => {
  const form = await formWith({ id: -3 })
  const answer = await create(form, body, { 'Content-Type': 'application/json' })
  expectError(answer, 400, 115000)
  expect(answer.json.message).toMatch(/^\w/)
  expect(await layoutOf(form)).toBe('-3@1')
})

test('A refusal lists every fault with its path (E-1, E-2)', async () => {
  const form = await formWith({ id: -3 })
  const { json } = await create(form, { type: { id: -1 }, mandatory: 'yes', order: 0 })
  expect(json.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual(['mandatory', 'order', 'type.id'])
})
