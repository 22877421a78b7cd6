import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { associationList } from '../../lib/categories/association-list.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { CategoryId } from '../../lib/ids.ts'
import type { Table } from '../table.ts'
import { site, sizes } from './library.ts'

const entry = fileURLToPath(new URL('measure-request.ts', import.meta.url))
const run = promisify(execFile)

interface Figures {
  readonly ms: number
  readonly units: number
  readonly peakMiB: number
}

const cursorBehind = (category: CategoryId, key: number): string =>
  parseListQuery(new Map([['cursor', ['']]]), associationList(site, category, 'news')).cursorBehind({ key, values: [] })

/** The requests of the table, for a category with so many links. */
const requests: Readonly<Record<string, (category: CategoryId, size: number) => Readonly<Record<string, string>>>> = {
  'first page': () => ({}),
  'first page by cursor': () => ({ cursor: '' }),
  'last page by skip': (_, size) => ({ skip: String(size - 10) }),
  'last page by cursor': (category, size) => ({ cursor: cursorBehind(category, size - 10) }),
  'where, matching 1 %': () => ({ where: '{weight:7}' }),
  'where by cursor': () => ({ where: '{weight:7}', cursor: '' }),
  'where on links alone': () => ({ where: '{objectId:{$in:[7,77]}}' }),
  'order=-releaseDate': () => ({ order: '-releaseDate' }),
}

const measure = async (socket: string, category: CategoryId, query: object, size: number): Promise<Figures> => {
  const path = `/webresources/api/v3/sites/${site}/categories/${category}/news`
  const repetitions = size > 10_000 ? '3' : '9'
  const { stdout } = await run(process.execPath, [entry, socket, path, JSON.stringify(query), repetitions])
  return JSON.parse(stdout) as Figures
}

const columns = ['request', ...[...sizes.values()].map((size) => `${size.toLocaleString('en')} links`)]

/** How each request grows with the category: in time, in read units, in memory. */
export const measureLists = async (socket: string): Promise<Table[]> => {
  const figures: (readonly [string, readonly Figures[]])[] = []
  for (const [name, queryOf] of Object.entries(requests)) {
    const row: Figures[] = []
    for (const [category, size] of sizes) row.push(await measure(socket, category, queryOf(category, size), size))
    figures.push([name, row])
  }
  const table = (title: string, cell: (figures: Figures) => number): Table => ({
    title,
    columns,
    rows: figures.map(([name, row]) => [name, ...row.map(cell)]),
  })
  return [
    table('Time of a list, ms (median, warm)', ({ ms }) => Number(ms.toPrecision(3))),
    table('Read units of a list', ({ units }) => units),
    table('Peak memory of the process that answers, MiB', ({ peakMiB }) => Math.round(peakMiB)),
  ]
}
