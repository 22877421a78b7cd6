import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fieldTypes } from '../../../lib/fields/catalogue.ts'
import { addField, changeField, removeField } from '../../../lib/fields/field-rules.ts'
import type { WebForm } from '../../../lib/fields/web-form.ts'
import { createWebFormsTable, type WebFormsTable } from '../../../lib/fields/web-forms-table.ts'
import type { SiteId, WebFormId } from '../../../lib/ids.ts'
import { loseAnswer, watchCalls } from '../../support/store-faults.ts'
import { openTestTables, type TestTables } from '../../support/tables.ts'

let tables: TestTables
let webForms: WebFormsTable

const connect = (client = tables.connect()) => createWebFormsTable(client, tables.names.webForms)

beforeAll(async () => {
  tables = await openTestTables()
  webForms = connect()
})
afterAll(() => tables.close())

/** Each test has a site for itself. */
let lastSite = 0
let site: SiteId
beforeEach(() => {
  lastSite += 1
  site = lastSite as SiteId
})

const formId = (id: number) => id as WebFormId
const form = (id: number, fields: WebForm['fields'] = []): WebForm => ({
  site,
  id: formId(id),
  name: `Form ${id}`,
  fields,
})
const anything = () => undefined

const typesOf = async (id: number) => (await webForms.get(site, formId(id)))?.fields.map(({ typeId }) => typeId)

describe('a web form', () => {
  test('comes back as it was stored', async () => {
    const stored = form(7, [
      { typeId: -2, mandatory: true, order: 1 },
      { typeId: -400, name: '[ImageVerification]', mandatory: false, order: 2_147_483_647 },
    ])
    expect(await webForms.create(stored)).toBe(true)
    expect(await webForms.get(site, formId(7))).toEqual(stored)
  })

  test('is not found under another id, nor on another site', async () => {
    await webForms.create(form(7))
    expect(await webForms.get(site, formId(8))).toBeUndefined()
    expect(await webForms.get((site + 1_000) as SiteId, formId(7))).toBeUndefined()
  })

  test('is not made over one that is there', async () => {
    await webForms.create(form(7, [{ typeId: -2, mandatory: true, order: 1 }]))
    expect(await webForms.create(form(7))).toBe(false)
    expect(await typesOf(7)).toEqual([-2])
  })

  test('is made once when several make it at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => webForms.create(form(7))))
    expect(made.filter(Boolean)).toHaveLength(1)
  })

  test('is renamed without touching its fields', async () => {
    await webForms.create(form(7, [{ typeId: -2, mandatory: true, order: 1 }]))
    await webForms.rename(site, formId(7), 'Feedback')
    expect(await webForms.get(site, formId(7))).toMatchObject({ name: 'Feedback', fields: [{ typeId: -2 }] })
  })

  test('does not come into being by a new name', async () => {
    await expect(webForms.rename(site, formId(7), 'Feedback')).rejects.toThrow()
    expect(await webForms.get(site, formId(7))).toBeUndefined()
  })
})

describe('the web forms of a site', () => {
  test('are listed by id, and no others', async () => {
    for (const id of [10, 9, 100]) await webForms.create(form(id))
    await webForms.create({ ...form(1), site: (site + 1_000) as SiteId })
    expect(await webForms.list(site)).toEqual([
      { id: 9, name: 'Form 9' },
      { id: 10, name: 'Form 10' },
      { id: 100, name: 'Form 100' },
    ])
    expect(await webForms.highestId(site)).toBe(100)
  })

  test('are all listed when they are more than one page', async () => {
    // A page of the store is 1 MB; these have 1.2 MB.
    const name = 'x'.repeat(30_000)
    await Promise.all(Array.from({ length: 40 }, (_, id) => webForms.create({ ...form(id), name })))
    expect(await webForms.list(site)).toHaveLength(40)
  })

  test('may be none', async () => {
    expect(await webForms.list(site)).toEqual([])
    expect(await webForms.highestId(site)).toBe(0)
  })
})

describe('changing the fields of a web form', () => {
  test('costs one read and one write', async () => {
    await webForms.create(form(7))
    const client = tables.connect()
    const calls = watchCalls(client)
    await connect(client).changeFields(site, formId(7), (fields) => addField(fields, { typeId: -2, mandatory: true }))
    expect(calls).toEqual(['GetItemCommand', 'UpdateItemCommand'])
  })

  test('of a form that is not there is 115001, and makes none', async () => {
    const change = webForms.changeFields(site, formId(7), () => [])
    await expect(change).rejects.toThrow(expect.objectContaining({ code: 115001 }))
    expect(await webForms.get(site, formId(7))).toBeUndefined()
  })

  test('changes nothing when the rules refuse it', async () => {
    await webForms.create(form(7, [{ typeId: -2, mandatory: true, order: 1 }]))
    const change = webForms.changeFields(site, formId(7), (fields) => addField(fields, { typeId: -2, mandatory: true }))
    await expect(change).rejects.toThrow(expect.objectContaining({ code: 115006 }))
    expect(await typesOf(7)).toEqual([-2])
  })

  test('50 times at once loses none', async () => {
    const types = [...fieldTypes.keys()]
    const [removed, moved, added] = [types.slice(0, 10), types.slice(10, 20), types.slice(20)]
    await webForms.create(
      form(
        7,
        types.slice(0, 20).map((typeId, index) => ({ typeId, mandatory: false, order: index + 1 })),
      ),
    )
    const writers = Array.from({ length: 5 }, () => connect())
    const changes: ((table: WebFormsTable) => Promise<void>)[] = [
      ...removed.map(
        (typeId) => (table: WebFormsTable) =>
          table.changeFields(site, formId(7), (fields) => removeField(fields, typeId, anything)),
      ),
      ...moved.map(
        (typeId, index) => (table: WebFormsTable) =>
          table.changeFields(site, formId(7), (fields) =>
            changeField(fields, typeId, { mandatory: true, order: 100 + index }, anything),
          ),
      ),
      ...added.map(
        (typeId) => (table: WebFormsTable) =>
          table.changeFields(site, formId(7), (fields) => addField(fields, { typeId, mandatory: true, order: 1 })),
      ),
      ...moved.map((_, index) => (table: WebFormsTable) => table.rename(site, formId(7), `Renamed ${index}`)),
      ...Array.from(
        { length: 7 },
        (_, index) => (table: WebFormsTable) =>
          table.changeFields(site, formId(7), (fields) =>
            changeField(fields, moved[0] ?? 0, { order: 200 + index }, anything),
          ),
      ),
    ]
    expect(changes).toHaveLength(50)
    await Promise.all(
      changes.map((change, index) => {
        const writer = writers[index % writers.length]
        return writer && change(writer)
      }),
    )
    const { fields = [] } = (await webForms.get(site, formId(7))) ?? {}
    expect(new Set(fields.map(({ typeId }) => typeId))).toEqual(new Set([...moved, ...added]))
    expect(fields.every(({ mandatory }) => mandatory)).toBe(true)
    expect(new Set(fields.map(({ order }) => order)).size).toBe(fields.length)
    expect(fields.filter(({ order }) => order <= added.length).map(({ typeId }) => typeId)).toHaveLength(added.length)
  })

  const addTwo = (client = tables.connect()) =>
    connect(client).changeFields(site, formId(7), (fields) =>
      addField(fields, { typeId: -2, mandatory: true, order: 1 }),
    )

  test('is done once when the answer to its write is lost', async () => {
    await webForms.create(form(7, [{ typeId: -3, mandatory: true, order: 1 }]))
    const client = tables.connect()
    const answers = loseAnswer(client, 'UpdateItemCommand')
    await addTwo(client)
    expect(answers.lost).toBe(1)
    expect(await typesOf(7)).toEqual([-2, -3])
  })

  test('is done once when the answer is lost and others change the form before that shows', async () => {
    await webForms.create(form(7))
    const client = tables.connect()
    const answers = loseAnswer(client, 'UpdateItemCommand', async () => {
      for (const typeId of [-3, -4, -5]) {
        await webForms.changeFields(site, formId(7), (fields) => addField(fields, { typeId, mandatory: true }))
      }
    })
    await addTwo(client)
    expect(answers.lost).toBe(1)
    expect(await typesOf(7)).toEqual([-2, -3, -4, -5])
  })
})
