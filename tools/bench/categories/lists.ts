import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { associationList } from '../../../lib/categories/lists.ts'
import { parseListQuery } from '../../../lib/categories/query/list-query.ts'
import type { CategoryId } from '../../../lib/core/ids.ts'
import type { Table } from '../measure/figures.ts'
import type { Consumed } from '../measure/meter.ts'
import { type Ask, newsOf, site, sizes } from './library.ts'

type Query = Readonly<Record<string, string>>

const cursorAfter = (category: CategoryId, key: number): string =>
  parseListQuery(new Map([['cursor', '']]), associationList({ site, category, kind: 'news' })).cursorAfter({
    key,
    values: [],
  })

// The requests of the tables, by the number of links of the category.
const requests: Readonly<Record<string, (category: CategoryId, size: number) => Query>> = {
  'first page': () => ({}),
  'first page by cursor': () => ({ cursor: '' }),
  'last page by skip': (_, size) => ({ skip: String(size - 10) }),
  'last page by cursor': (category, size) => ({ cursor: cursorAfter(category, size - 10) }),
  'where, matching 1 %': () => ({ where: '{weight:7}' }),
  'where by cursor': () => ({ where: '{weight:7}', cursor: '' }),
  'where on links alone': () => ({ where: '{objectId:{$in:[7,77]}}' }),
  'order=-releaseDate': () => ({ order: '-releaseDate' }),
}

const columns = ['request', ...[...sizes.values()].map((size) => `${size.toLocaleString('en')} links`)]

type ListFigures<Figures> = readonly (readonly [request: string, bySize: readonly Figures[]])[]

const measureEachList = async <Figures>(
  measure: (category: CategoryId, query: Query, size: number) => Promise<Figures>,
): Promise<ListFigures<Figures>> => {
  const figures: [string, Figures[]][] = []
  for (const [name, queryOf] of Object.entries(requests)) {
    const row: Figures[] = []
    for (const [category, size] of sizes) row.push(await measure(category, queryOf(category, size), size))
    figures.push([name, row])
  }
  return figures
}

const listTable = <Figures>(
  title: string,
  figures: ListFigures<Figures>,
  cell: (figures: Figures) => number,
): Table => ({ title, columns, rows: figures.map(([name, row]) => [name, ...row.map(cell)]) })

const measureRequest = fileURLToPath(new URL('measure-request.ts', import.meta.url))
const run = promisify(execFile)

interface Usage {
  readonly ms: number
  readonly peakMiB: number
}

/** Measures the time and memory of each request, by size of the category. Each request runs in a process of its own. */
export const measureListTimes = async (dataDirectory: string, token: string): Promise<readonly Table[]> => {
  const figures = await measureEachList(async (category, query, size): Promise<Usage> => {
    const repetitions = size > 10_000 ? '5' : '15'
    const args = [measureRequest, dataDirectory, token, newsOf(category), JSON.stringify(query), repetitions]
    const { stdout } = await run(process.execPath, args)
    return JSON.parse(stdout)
  })
  return [
    listTable('Time of a list, ms (median, warm)', figures, ({ ms }) => Number(ms.toPrecision(3))),
    listTable('Peak memory of the process that answers, MiB', figures, ({ peakMiB }) => Math.round(peakMiB)),
  ]
}

/** Measures the read units of each request, by size of the category. */
export const measureListUnits = async (ask: Ask, takeConsumed: () => Consumed): Promise<Table> => {
  const figures = await measureEachList(async (category, query) => {
    takeConsumed()
    const { status, text } = await ask('GET', newsOf(category), query)
    if (status !== 200) throw new Error(`${status} ${text}`)
    return takeConsumed().readUnits
  })
  return listTable('Read units of a list', figures, (units) => units)
}
