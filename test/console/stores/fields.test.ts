import { expect } from 'vitest'
import { type Field, type FieldTypeId, ServiceError, type SiteClient } from '../../../client/src/index.ts'
import {
  createFieldsStore,
  type FieldsStore,
  positionBefore,
  reordered,
  toNewField,
} from '../../../console/forms/fields-store.ts'
import { test } from '../../client/support/site.ts'
import { fieldsOf, fill, form, idsOf } from '../support/fields.ts'

const storeWith = async (client: SiteClient, types: readonly FieldTypeId[]): Promise<FieldsStore> => {
  await fill(client, types)
  const store = createFieldsStore({ forms: client.forms, form })
  await store.load()
  return store
}

const shown = ({ fields }: FieldsStore) => fields.value?.map(({ id }) => id)

test('a field moves to the position of the field before which it is dropped', () => {
  const at = (id: number, order: number) => ({ id, order }) as Field
  const fields = [at(-2, 1), at(-3, 4), at(-7, 9)]
  expect([0, 1, 2, 3].map((before) => positionBefore(fields, before))).toEqual([1, 4, 9, 10])
  expect(reordered(fields, -2, 2).map(({ id }) => id)).toEqual([-3, -2, -7])
  expect(reordered(fields, -7, 0).map(({ id }) => id)).toEqual([-7, -2, -3])
  expect(reordered(fields, -99, 0)).toBe(fields)
})

test('each key press moves a field by one, however fast keys and news come', async ({ client }) => {
  await fill(client, [-2, -3, -7, -20])
  let hasNews = false
  const forms: SiteClient['forms'] = {
    ...client.forms,
    async change(...change) {
      await client.forms.change(...change)
      hasNews = true
    },
    async *fields(of) {
      yield* client.forms.fields(of)
      if (!hasNews) return
      hasNews = false
      void store.load()
    },
  }
  const store = createFieldsStore({ forms, form })
  await store.load()
  await Promise.all([store.moveBy(-2, 1), store.moveBy(-2, 1), store.moveBy(-2, 1), store.moveBy(-2, 1)])
  await store.moveBy(-2, -1)
  expect(await idsOf(client)).toEqual([-3, -7, -2, -20])
  expect(shown(store)).toEqual([-3, -7, -2, -20])
})

test('a required flag that someone else has changed is not overwritten', async ({ client }) => {
  const store = await storeWith(client, [-2, -3])
  await client.forms.change(form, -2, { mandatory: true })
  await store.setMandatory(-2, true)
  expect(store.trouble.value).toMatchObject({ field: { id: -2, mandatory: false } })
  expect(store.fields.value?.[0]?.mandatory).toBe(true)
})

test('a change fails for good if someone else removed the field', async ({ client }) => {
  const store = await storeWith(client, [-2, -3])
  await client.forms.remove(form, -2)
  await store.setMandatory(-2, true)
  expect(shown(store)).toEqual([-3])
  expect(store.trouble.value).toMatchObject({ field: { id: -2 }, repeat: undefined })
})

test('a change that failed with the network is sent again by its repetition (K-19)', async ({ client }) => {
  await fill(client, [-2, -3, -7])
  let isDown = false
  const refuse = () => {
    if (isDown) throw new ServiceError({ status: 0, code: 0, message: 'No answer came.' })
  }
  const forms: SiteClient['forms'] = {
    ...client.forms,
    async field(...wanted) {
      refuse()
      return client.forms.field(...wanted)
    },
    async *fields(of) {
      refuse()
      yield* client.forms.fields(of)
    },
  }
  const store = createFieldsStore({ forms, form })
  await store.load()
  for (const change of [() => store.setMandatory(-3, true), () => store.move(-2, 3)]) {
    isDown = true
    await change()
    isDown = false
    store.trouble.value?.repeat?.()
    await expect.poll(() => store.trouble.value).toBeUndefined()
  }
  await expect.poll(() => fieldsOf(client)).toMatchObject([{ id: -3, mandatory: true }, { id: -7 }, { id: -2 }])
})

test('a field with a name of its own can be restored only by an import (F-11)', () => {
  const type = { id: -2, name: 'CustomerDetails' } as const
  const named = (name: string): Field => ({ links: [], id: -2, name, type, mandatory: true, order: 3 })
  expect(toNewField(named(type.name))).toEqual({ type: -2, mandatory: true, order: 3 })
  expect(toNewField(named('Your name'))).toBeUndefined()
})

test('a required flag is set although someone else has moved a field', async ({ client }) => {
  const store = await storeWith(client, [-2, -3])
  await client.forms.change(form, -3, { order: 1 })
  await store.setMandatory(-2, true)
  expect(store.trouble.value).toBeUndefined()
  expect(await fieldsOf(client)).toMatchObject([{ id: -3 }, { id: -2, mandatory: true }])
})

test('an unchanged form gives the same list, so the page is not redrawn', async ({ client }) => {
  const store = await storeWith(client, [-2, -3])
  const before = store.fields.value
  await store.load()
  expect(store.fields.value).toBe(before)
})
