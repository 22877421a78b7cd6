import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type Exercise, exercises, fillDirectory, perform, storesOver } from '../test/support/every-operation.ts'
import { prices } from './costs/prices.ts'
import { measureStorageCosts } from './costs/storage-costs.ts'
import { dollars, requestCosts, tableCosts } from './costs/total.ts'
import { onTables } from './grounds.ts'
import { type Consumed, meter } from './meter.ts'
import type { Bench, Table } from './table.ts'

const costsOf = async (
  { group, fill, open, requests }: Exercise,
  documents: DynamoDBDocumentClient,
  token: string,
  takeConsumed: () => Consumed,
): Promise<Table> => {
  await fill(documents)
  const { handler, close } = await open(documents, { telemetry: { request: () => undefined } })
  // Whoever comes first finds the caches cold: that is not what a million requests cost.
  const [last] = requests.slice(-1)
  if (last) await perform(handler, token, last)
  const before = requestCosts(group, prices.assumedSeconds)
  const rows: (string | number)[][] = []
  for (const request of requests) {
    takeConsumed()
    await perform(handler, token, request)
    const consumed = takeConsumed()
    const store = tableCosts(consumed)
    const [path = ''] = request.target.split('/sites/1001').slice(-1)
    const { readUnits, writeUnits } = consumed
    rows.push([`${request.method} ${path}`, readUnits, writeUnits, dollars(store), dollars(before + store)])
  }
  await close()
  return {
    title: `What a million requests cost: ${group} (US dollars)`,
    columns: ['request', 'read units', 'write units', 'store', 'in all'],
    rows,
  }
}

/** What the operations cost at list prices, from the capacity that the store reports. */
export const costs: Bench = () =>
  onTables(async (documents) => {
    const token = await fillDirectory(storesOver(documents))
    const takeConsumed = meter(documents)
    const measured: Table[] = []
    for (const exercise of exercises) {
      // What files cost is counted where there are files as they are deployed.
      if (exercise.group !== 'storage') measured.push(await costsOf(exercise, documents, token, takeConsumed))
    }
    return [...measured, ...(await measureStorageCosts(documents, token, takeConsumed))]
  })
