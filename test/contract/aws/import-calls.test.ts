import { beforeEach, expect, test } from 'vitest'
import { importRecords } from '../../../admin/records/import-records.ts'
import type { RawRecord } from '../../../admin/records/read-records.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { openTableStores } from '../../support/tables.ts'

const site = 1001 as SiteId

const { names, connect } = openMemoryTables()
const dynamodb = connect()
const stores = openTableStores(names, { dynamodb, record: unrecorded })
/** The number of calls of each kind in the current import. */
let calls: Record<string, number>
dynamodb.middlewareStack.add(
  (next, { commandName = '' }) =>
    (args) => {
      const name = commandName.replace(/Command$/, '')
      calls[name] = (calls[name] ?? 0) + 1
      return next(args)
    },
  { step: 'initialize', name: 'count' },
)
beforeEach(() => {
  calls = {}
})

const importAll = (records: readonly object[]) => {
  const lines = async function* (): AsyncGenerator<RawRecord> {
    for (const [index, record] of records.entries()) yield { line: index + 1, text: JSON.stringify(record) }
  }
  return importRecords(lines(), site, stores)
}
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('An import reads 100 news items per call, writes 25, and repeats no write', async () => {
  const news = numbers(500).map((id) => ({ kind: 'news', id, subject: `News ${id}`, body: `Text ${id}` }))
  await importAll(news)
  expect(calls).toEqual({ BatchGetItem: 5, BatchWriteItem: 40 })
  calls = {}
  await importAll(news)
  expect(calls).toEqual({ BatchGetItem: 10 })
  calls = {}
  await importAll(news.map(({ kind, id }) => ({ kind, id })))
  expect(calls).toEqual({ BatchGetItem: 5 })
})

test('An import adds all fields of a form in one change, and repeats no change', async () => {
  const records = [
    { kind: 'webForm', id: 7, name: 'Seven' },
    ...[-2, -3, -4].map((typeId) => ({ kind: 'field', webFormId: 7, typeId })),
  ]
  await importAll(records)
  expect(calls).toEqual({ PutItem: 1, GetItem: 1, UpdateItem: 1 })
  calls = {}
  await importAll(records)
  // The call that writes the name returns the old name.
  expect(calls).toEqual({ PutItem: 1, GetItem: 1, UpdateItem: 1 })
  expect((await stores.webForms.get(site, 7 as WebFormId))?.fields).toHaveLength(3)
})
