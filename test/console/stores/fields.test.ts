import { describe, expect } from 'vitest'
import type { Field, FieldTypeId, SiteClient } from '../../../client/src/index.ts'
import { createFieldsStore, type FieldsStore, positionBefore, reordered } from '../../../console/forms/fields-store.ts'
import { test } from '../support/console.ts'

/** A form of the demo that no other test here uses. */
const form = 2

const fieldsOf = async ({ forms }: SiteClient): Promise<Field[]> => {
  const fields: Field[] = []
  for await (const field of forms.fields(form)) fields.push(field)
  return fields
}
const idsOf = async (client: SiteClient) => (await fieldsOf(client)).map(({ id }) => id)

/** The store of a form with these types, at the positions 1, 2 and so on. */
const storeWith = async (client: SiteClient, types: readonly FieldTypeId[]): Promise<FieldsStore> => {
  for (const { id } of await fieldsOf(client)) await client.forms.remove(form, id)
  for (const type of types) await client.forms.add(form, { type, mandatory: false })
  const store = createFieldsStore({ forms: client.forms, form })
  await store.load()
  return store
}

const shown = ({ fields }: FieldsStore) => fields.value?.map(({ id }) => id)

describe('a field is moved', () => {
  test('before another one, to its position, which moves that one down', () => {
    const at = (id: number, order: number) => ({ id, order }) as Field
    const fields = [at(-2, 1), at(-3, 4), at(-7, 9)]
    expect([0, 1, 2, 3].map((before) => positionBefore(fields, before))).toEqual([1, 4, 9, 10])
    expect(reordered(fields, -2, 2).map(({ id }) => id)).toEqual([-3, -2, -7])
    expect(reordered(fields, -7, 0).map(({ id }) => id)).toEqual([-7, -2, -3])
    expect(reordered(fields, -99, 0)).toBe(fields)
  })

  test('to the place where the user drops it, on the service and on the page', async ({ client }) => {
    const store = await storeWith(client, [-2, -3, -7, -20])
    await store.move(-20, 1)
    await store.move(-2, 4)
    expect(shown(store)).toEqual([-20, -3, -7, -2])
    expect(await idsOf(client)).toEqual([-20, -3, -7, -2])
  })

  test('by as many places as keys were pressed, however fast', async ({ client }) => {
    const store = await storeWith(client, [-2, -3, -7, -20])
    await Promise.all([store.moveBy(-2, 1), store.moveBy(-2, 1), store.moveBy(-2, 1), store.moveBy(-2, 1)])
    await store.moveBy(-2, -1)
    expect(await idsOf(client)).toEqual([-3, -7, -2, -20])
    expect(shown(store)).toEqual([-3, -7, -2, -20])
  })
})

describe('if someone else was faster', () => {
  test('a move is not made, and the new state is shown; repeating it succeeds', async ({ client }) => {
    const store = await storeWith(client, [-2, -3, -7])
    await client.forms.change(form, -7, { order: 1 })
    await store.moveBy(-3, 1)
    expect(await idsOf(client)).toEqual([-7, -2, -3])
    expect(shown(store)).toEqual([-7, -2, -3])
    expect(store.trouble.value).toMatchObject({ field: { id: -3 }, repeat: expect.any(Function) })
    expect(store.trouble.value?.error).toBeUndefined()
    await store.moveBy(-3, -1)
    expect(store.trouble.value).toBeUndefined()
    expect(await idsOf(client)).toEqual([-7, -3, -2])
  })

  test('a required flag is not overwritten', async ({ client }) => {
    const store = await storeWith(client, [-2, -3])
    await client.forms.change(form, -2, { mandatory: true })
    await store.setMandatory(-2, true)
    expect(store.trouble.value).toMatchObject({ field: { id: -2, mandatory: false } })
    expect(store.fields.value?.[0]?.mandatory).toBe(true)
  })

  test('a removed field offers no repetition', async ({ client }) => {
    const store = await storeWith(client, [-2, -3])
    await client.forms.remove(form, -2)
    await store.setMandatory(-2, true)
    expect(shown(store)).toEqual([-3])
    expect(store.trouble.value).toMatchObject({ field: { id: -2 }, repeat: undefined })
  })

  test('a required flag that does not conflict with a move is set', async ({ client }) => {
    const store = await storeWith(client, [-2, -3])
    await client.forms.change(form, -3, { order: 1 })
    await store.setMandatory(-2, true)
    expect(store.trouble.value).toBeUndefined()
    expect(await fieldsOf(client)).toMatchObject([{ id: -3 }, { id: -2, mandatory: true }])
  })
})

test('a removed field is restored at its place, unchanged', async ({ client }) => {
  const store = await storeWith(client, [-2, -3, -7])
  await store.setMandatory(-3, true)
  const gone = await store.remove(-3)
  expect(await idsOf(client)).toEqual([-2, -7])
  if (gone) await store.putBack(gone)
  expect(await fieldsOf(client)).toMatchObject([{ id: -2 }, { id: -3, mandatory: true }, { id: -7 }])
})

test('a refusal has the message of the service, and can be repeated', async ({ client }) => {
  const store = await storeWith(client, [-2])
  const gone = await store.remove(-2)
  await client.forms.add(form, { type: -2, mandatory: true })
  if (gone) await store.putBack(gone)
  expect(store.trouble.value).toMatchObject({ error: { code: 115006 }, repeat: expect.any(Function) })
  await expect(store.add({ type: -2, mandatory: true })).rejects.toMatchObject({ code: 115006 })
})

test('an unchanged list is the same list, so it is not drawn again', async ({ client }) => {
  const store = await storeWith(client, [-2, -3])
  const before = store.fields.value
  await store.load()
  expect(store.fields.value).toBe(before)
})
