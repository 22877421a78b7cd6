import { expect, test } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { addField, fieldsOf, formWith, layoutOf } from '../support/forms.ts'
import { call } from '../support/http.ts'

const update = (form: number, field: number, body: unknown, headers: Record<string, string> = {}) =>
  call(`${fieldsOf(form)}/${field}`, { method: 'PUT', body, headers })
const remove = (form: number, field: number, headers: Record<string, string> = {}) =>
  call(`${fieldsOf(form)}/${field}`, { method: 'DELETE', headers })
const read = async (form: number, field: number) => (await call(`${fieldsOf(form)}/${field}`)).json

/** With a JSON type, clients would fail to parse the empty body. */
const emptyAnswer = { status: 200, text: '', headers: { 'content-type': expect.stringMatching(/^text\/plain/) } }

test('A change answers 200 with an empty body (F-18)', async () => {
  const form = await formWith({ id: -2 })
  expect(await update(form, -2, { mandatory: true, order: 3 })).toMatchObject(emptyAnswer)
  expect(await read(form, -2)).toMatchObject({ mandatory: true, order: 3 })
})

test.each([{ mandatory: true }, { order: 5 }])('A change of %j leaves other members unchanged (F-18)', async (body) => {
  const form = await formWith({ id: -2, mandatory: false, order: 4 })
  await update(form, -2, body)
  expect(await read(form, -2)).toMatchObject({ mandatory: false, order: 4, ...body })
})

test('A moved field frees its old position before it takes the new one (F-24)', async () => {
  const form = await formWith({ id: -2 }, { id: -3 }, { id: -5 })
  await update(form, -2, { order: 2 })
  expect(await layoutOf(form)).toBe('-2@2 -3@3 -5@4')
  await update(form, -5, { order: 2 })
  expect(await layoutOf(form)).toBe('-5@2 -2@3 -3@4')
  for (const _ of ['moved', 'already there']) {
    await update(form, -2, { order: 2 })
    expect(await layoutOf(form)).toBe('-2@2 -5@3 -3@4')
  }
})

test('A field that was read can be sent back whole (F-20)', async () => {
  const form = await formWith({ id: -2 }, { id: -3 })
  const field = await read(form, -3)
  expect((await update(form, -3, { ...field, order: 1 })).status).toBe(200)
  expect(await layoutOf(form)).toBe('-3@1 -2@2')
})

test.each<[string, unknown]>([
  ['neither member', {}],
  ['only an unknown member', { type: { id: -3 } }],
  ['a string for mandatory', { mandatory: 'no' }],
  ['order 0', { order: 0 }],
  ['order 1.5', { order: 1.5 }],
  ['order 2 to the power of 31', { order: 2 ** 31 }],
  ['one good and one bad member', { mandatory: true, order: -1 }],
  ['a list', [{ order: 1 }]],
])('A change with %s is refused with 115000 (F-18, E-20)', async (_, body) => {
  const form = await formWith({ id: -2 })
  expectError(await update(form, -2, body), 400, 115000)
  expect(await read(form, -2)).toMatchObject({ mandatory: false, order: 1 })
})

test('A removal returns 200 without a body, and leaves a gap in the order (F-19, F-22)', async () => {
  const form = await formWith({ id: -2 }, { id: -3 }, { id: -5 })
  expect(await remove(form, -3)).toMatchObject(emptyAnswer)
  expect(await layoutOf(form)).toBe('-2@1 -5@3')
})

test('A field can be removed, also with a body, and created again (F-19, F-4)', async () => {
  const form = await formWith({ id: -2 })
  expect((await call(`${fieldsOf(form)}/-2`, { method: 'DELETE', body: 'whatever' })).status).toBe(200)
  expectError(await remove(form, -2), 404, 115002)
  expect((await addField(form, { id: -2 })).status).toBe(201)
})

test('A change needs the current ETag, and is refused with an older one (F-31, E-12)', async () => {
  const form = await formWith({ id: -2 })
  const { headers } = await call(`${fieldsOf(form)}/-2`)
  expect((await update(form, -2, { mandatory: true }, { 'If-Match': headers['etag'] ?? '' })).status).toBe(200)
  const etag = (await call(`${fieldsOf(form)}/-2`)).headers['etag'] ?? ''
  const malformed = [etag.replaceAll('"', ''), etag.replace('"', '"x'), `*, ${etag}`]
  for (const ifMatch of [headers['etag'] ?? '', `W/${etag}`, ...malformed]) {
    expectError(await update(form, -2, { order: 9 }, { 'If-Match': ifMatch }), 412, 100412)
    expectError(await remove(form, -2, { 'If-Match': ifMatch }), 412, 100412)
  }
  expect(await read(form, -2)).toMatchObject({ mandatory: true, order: 1 })
})

test('Answers in XML and JSON have their own ETags, which a removal accepts (F-31)', async () => {
  const form = await formWith({ id: -2 })
  const inJson = await call(`${fieldsOf(form)}/-2`)
  const { headers } = await call(`${fieldsOf(form)}/-2`, { headers: { Accept: 'application/xml' } })
  expect(inJson.headers['etag']).not.toBe(headers['etag'])
  for (const answer of [inJson, { headers }]) expect(answer.headers['vary']).toContain('Accept')
  expect((await remove(form, -2, { 'If-Match': `"other", ${headers['etag']}` })).status).toBe(200)
})

test('If-Match: * matches every existing field, but no missing field', async () => {
  const form = await formWith({ id: -2 })
  expect((await update(form, -2, { mandatory: true }, { 'If-Match': '*' })).status).toBe(200)
  for (const ifMatch of ['*', '"x"']) {
    expectError(await update(form, -3, { mandatory: true }, { 'If-Match': ifMatch }), 404, 115002)
    expectError(await remove(form, -3, { 'If-Match': ifMatch }), 404, 115002)
  }
})

test('If-None-Match refuses a change of the named state with 100412 (F-31)', async () => {
  const form = await formWith({ id: -2 })
  const etag = (await call(`${fieldsOf(form)}/-2`)).headers['etag'] ?? ''
  const malformed = [etag.replaceAll('"', ''), `*, ${etag}`, `${'"x",'.repeat(100)}${etag}`]
  for (const header of ['*', etag, `W/${etag}`, ...malformed]) {
    expectError(await update(form, -2, { order: 9 }, { 'If-None-Match': header }), 412, 100412)
    expectError(await remove(form, -2, { 'If-None-Match': header }), 412, 100412)
  }
  expect((await update(form, -2, { order: 9 }, { 'If-None-Match': '"other"' })).status).toBe(200)
})

test('A change gives the list a new ETag; a caller who has that ETag gets 304', async () => {
  const form = await formWith({ id: -2 }, { id: -3 })
  const before = [await call(fieldsOf(form)), await call(`${fieldsOf(form)}/-2`)]
  await update(form, -3, { mandatory: true })
  const after = [await call(fieldsOf(form)), await call(`${fieldsOf(form)}/-2`)]
  expect(after[0]?.headers['etag']).not.toBe(before[0]?.headers['etag'])
  expect(after[1]?.headers['etag']).toBe(before[1]?.headers['etag'])
  const etag = after[0]?.headers['etag'] ?? ''
  const again = await call(fieldsOf(form), { headers: { 'If-None-Match': `W/${etag}` } })
  expect(again).toMatchObject({ status: 304, text: '', headers: { etag } })
})
