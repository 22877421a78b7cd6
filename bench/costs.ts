import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { functionSettings } from '../cdk/functions.ts'
import type { RequestRecord } from '../lib/http/observe.ts'
import { type TableDefinition, type TableName, tables } from '../lib/tables.ts'
import { openDataDirectory } from '../local/data-directory.ts'
import { openEmbeddedTables } from '../local/embedded-tables.ts'
import { type Exercise, exercises, fillDirectory, perform } from '../test/support/every-operation.ts'
import { prices } from './costs/prices.ts'
import type { Bench, Table } from './table.ts'

interface Units {
  read: number
  written: number
}

/** What a write to a table writes: the item, and an entry in each index, which the embedded store does not count. */
const entriesOf = (table: string): number => {
  const { indexes = {} }: TableDefinition = tables[table as TableName]
  return 1 + Object.keys(indexes).length
}

/** Has the store report the capacity that calls consume, and adds it up. */
const meter = (documents: DynamoDBDocumentClient): Units => {
  const units: Units = { read: 0, written: 0 }
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
        const { ConsumedCapacity = [] } = result.output as { ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] }
        for (const { CapacityUnits = 0, TableName = '' } of [ConsumedCapacity].flat()) {
          if (/Write|Put|Update|Delete/.test(commandName)) units.written += CapacityUnits * entriesOf(TableName)
          else units.read += CapacityUnits
        }
        return result
      },
    { step: 'initialize', name: 'meter' },
  )
  return units
}

const dollars = (value: number) => value.toFixed(2)

const costsOf = async (
  { group, fill, open, requests }: Exercise,
  documents: DynamoDBDocumentClient,
  token: string,
  units: Units,
): Promise<Table> => {
  await fill(documents)
  const records: RequestRecord[] = []
  const { handler, close } = await open({ documents, telemetry: { request: (record) => void records.push(record) } })
  // Whoever comes first finds the caches cold: that is not what a million requests cost.
  const [last] = requests.slice(-1)
  if (last) await perform(handler, token, last)
  const { memorySize } = functionSettings[group]
  const computing = prices.gigabyteSecond * (memorySize / 1024) * prices.assumedSeconds
  const rows: (string | number)[][] = []
  for (const request of requests) {
    Object.assign(units, { read: 0, written: 0 } satisfies Units)
    await perform(handler, token, request)
    const store = units.read * prices.readUnit + units.written * prices.writeUnit
    const total = prices.gatewayRequest + prices.functionRequest + computing + prices.logs + store
    const [path = ''] = request.target.split('/sites/1001').slice(-1)
    rows.push([`${request.method} ${path}`, units.read, units.written, dollars(store), dollars(total)])
  }
  await close()
  return {
    title: `What a million requests cost: ${group} (US dollars)`,
    columns: ['request', 'read units', 'write units', 'store', 'in all'],
    rows,
  }
}

/** What the operations cost at list prices, from the capacity that the store reports. */
export const costs: Bench = async () => {
  const path = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  try {
    const directory = openDataDirectory(path)
    const { documents, close } = await openEmbeddedTables(directory, directory.socket)
    try {
      const token = await fillDirectory(documents)
      const units = meter(documents)
      const measured: Table[] = []
      for (const exercise of exercises) measured.push(await costsOf(exercise, documents, token, units))
      return measured
    } finally {
      await close()
    }
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}
