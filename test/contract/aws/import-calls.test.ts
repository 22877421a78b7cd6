import { expect, test } from 'vitest'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { importInto } from '../../support/administration.ts'
import { unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { watchCalls } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'
import { range } from '../ports/some-content.ts'

const site = 1001 as SiteId

const { names, connect } = openMemoryTables()
const dynamodb = connect()
const stores = openTableStores(names, { dynamodb, record: unrecorded })
const calls = watchCalls(dynamodb)

/** The number of calls of each kind in the import of these records. */
const callsOf = async (records: readonly object[]): Promise<Record<string, number>> => {
  calls.length = 0
  await importInto(stores, site, records)
  const kinds = Map.groupBy(calls, (name) => name.replace(/Command$/, ''))
  return Object.fromEntries([...kinds].map(([kind, { length }]) => [kind, length]))
}

test('An import reads 100 news items per call, writes 25, and repeats no write', async () => {
  const news = range(1, 500).map((id) => ({ kind: 'news', id, subject: `News ${id}`, body: `Text ${id}` }))
  expect(await callsOf(news)).toEqual({ BatchGetItem: 5, BatchWriteItem: 40 })
  expect(await callsOf(news)).toEqual({ BatchGetItem: 10 })
  expect(await callsOf(news.map(({ kind, id }) => ({ kind, id })))).toEqual({ BatchGetItem: 5 })
})

test('An import adds all fields of a form in one change, and repeats no change', async () => {
  const records = [
    { kind: 'webForm', id: 7, name: 'Seven' },
    ...[-2, -3, -4].map((typeId) => ({ kind: 'field', webFormId: 7, typeId })),
  ]
  expect(await callsOf(records)).toEqual({ PutItem: 1, GetItem: 1, UpdateItem: 1 })
  // A form that exists is read once more. The call that writes the name returns the old name.
  expect(await callsOf(records)).toEqual({ PutItem: 1, GetItem: 2, UpdateItem: 1 })
  expect((await stores.webForms.get(site, 7 as WebFormId))?.fields).toHaveLength(3)
})
