import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test } from 'vitest'
import { createWebForms } from '../../../lib/aws/dynamodb/web-forms.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { addField } from '../../../lib/fields/field-rules.ts'
import type { WebForms } from '../../../lib/fields/web-forms.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { loseAnswer } from '../../support/store-faults.ts'

const tables = openMemoryTables()
const over = (client: DynamoDBDocumentClient) =>
  createWebForms({ dynamodb: client, table: tables.names.webForms, record: unrecorded })

const webForms = over(tables.connect())

const id = 7 as WebFormId
let site = 0 as SiteId
beforeEach(async () => {
  site = (site + 1) as SiteId
  await webForms.create({ site, id, name: 'Form', fields: [{ typeId: -3, mandatory: true, order: 1 }] }, entry)
})

const add = (forms: WebForms, typeId: number, order?: number) =>
  forms.changeFields(site, id, (fields) => addField(fields, { typeId, mandatory: true, order }), entry)
const types = async () => (await webForms.get(site, id))?.fields.map(({ typeId }) => typeId)

test('a form that was removed and created again keeps its new fields', async () => {
  const forms = over(tables.connect())
  await add(forms, -2)
  await webForms.remove(site, id, entry)
  await webForms.create({ site, id, name: 'Form', fields: [] }, entry)
  await add(webForms, -5)
  await add(forms, -6)
  expect(await types()).toEqual([-5, -6])
})

test.each([
  ['alone', []],
  ['beside other changes', [-4, -5, -6]],
])('a change whose write loses its answer is made once, %s', async (_, others) => {
  const client = tables.connect()
  const answers = loseAnswer(client, 'UpdateItemCommand', async () => {
    for (const typeId of others) await add(webForms, typeId)
  })
  await add(over(client), -2, 1)
  expect(answers.lost).toBe(1)
  expect(await types()).toEqual([-2, -3, ...others])
})
