import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { RequestRecord } from '../lib/http/observe.ts'
import { openDataDirectory } from '../local/data-directory.ts'
import { openEmbeddedTables } from '../local/embedded-tables.ts'
import { type Exercise, exercises, fillDirectory, perform } from '../test/support/every-operation.ts'
import { meter, type Units } from './costs/meter.ts'
import { prices } from './costs/prices.ts'
import { measureStorageCosts } from './costs/storage-costs.ts'
import { dollars, requestCosts, tableCosts } from './costs/total.ts'
import type { Bench, Table } from './table.ts'

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
  const before = requestCosts(group, prices.assumedSeconds)
  const rows: (string | number)[][] = []
  for (const request of requests) {
    Object.assign(units, { read: 0, written: 0 } satisfies Units)
    await perform(handler, token, request)
    const store = tableCosts(units)
    const [path = ''] = request.target.split('/sites/1001').slice(-1)
    rows.push([`${request.method} ${path}`, units.read, units.written, dollars(store), dollars(before + store)])
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
      for (const exercise of exercises) {
        // What files cost is counted where there are files as they are deployed.
        if (exercise.group !== 'storage') measured.push(await costsOf(exercise, documents, token, units))
      }
      return [...measured, ...(await measureStorageCosts(documents, token, units))]
    } finally {
      await close()
    }
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}
