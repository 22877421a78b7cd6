import { setTimeout } from 'node:timers/promises'
import type { Handler } from '../../lib/http/request.ts'
import type { Machine } from '../../lib/machine/machine.ts'
import { fillDirectory, site } from '../../test/support/every-operation.ts'
import { send } from '../../test/support/gateway.ts'
import { atMost, type Bench, quantile, seconds, type Table } from './measure/figures.ts'
import { onMachine, storageOf } from './measure/grounds.ts'

const files = 1_000_000
const samples = 50

/** Uploads would take an hour, so this writes the rows at once. The triggers note the names of the files as usual. */
const storeFiles = ({ database: { connection, write } }: Machine): Promise<unknown> =>
  write(() =>
    connection.exec(`INSERT INTO objects (key, size, modified, type, version)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${files})
      SELECT printf('live/${site}/photos/%d/%s-%07d.jpg', n % 1000,
        CASE n % 5 WHEN 0 THEN 'Holiday' WHEN 1 THEN 'product' WHEN 2 THEN 'team' WHEN 3 THEN 'IMG' ELSE 'draft' END, n),
        0, 0, 'image/jpeg', 'v' || n FROM numbers`),
  )

const searches: readonly (readonly [what: string, query: Readonly<Record<string, string>>, folder?: string])[] = [
  ['one file', { search: '0765432' }],
  ['200,000 files, the first 100', { search: 'holiday' }],
  ['every file, the first 1,000', { search: '.jpg', limit: '1000' }],
  ['no file', { search: 'invoice' }],
  ['one file in a folder', { search: '0765432' }, 'photos/432/'],
]

const createSearch =
  (handler: Handler, token: string) =>
  async (query: Readonly<Record<string, string>>, folder = ''): Promise<readonly unknown[]> => {
    const path = `/api/v2/admin/sites/current/storage/${folder}`
    const { status, json } = await send(handler, 'GET', path, { headers: { Authorization: token }, query })
    if (status !== 200) throw new Error(`The search was answered ${status}`)
    return (json as { readonly items: readonly unknown[] }).items
  }

const measure = async (find: ReturnType<typeof createSearch>): Promise<Table> => {
  const begun = performance.now()
  while ((await find({ search: '0765432' })).length === 0) await setTimeout(100)
  const indexed = (performance.now() - begun) / 1000
  const rows: Table['rows'][number][] = []
  for (const [what, query, folder] of searches) {
    const times: number[] = []
    for (let sample = 0; sample < samples; sample++) times.push(1000 * (await seconds(() => find(query, folder))))
    rows.push([
      what,
      ...[0.5, 0.99].map((share) => quantile(times, share).toFixed(1)),
      ...atMost(quantile(times, 0.5), 50),
    ])
  }
  return {
    title: `A search among ${files.toLocaleString('en')} names on one machine; the first search took ${indexed.toFixed(1)} s`,
    columns: ['a search that finds, ms', 'median', 'p99', 'target', ''],
    rows,
  }
}

export const search: Bench = async () => [
  await onMachine(async (machine) => {
    const token = await fillDirectory(machine.stores)
    await storeFiles(machine)
    return measure(createSearch(storageOf(machine.stores), token))
  }),
]
