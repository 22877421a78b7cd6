import { associationList } from '../../lib/categories/association-list.ts'
import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import type { CategoryId } from '../../lib/ids.ts'
import type { Table } from '../table.ts'
import { site, sizes } from './library.ts'

type Query = Readonly<Record<string, string>>

const cursorBehind = (category: CategoryId, key: number): string =>
  parseListQuery(new Map([['cursor', ['']]]), associationList(site, category, 'news')).cursorBehind({ key, values: [] })

/** The requests of the tables, for a category with so many links. */
const requests: Readonly<Record<string, (category: CategoryId, size: number) => Query>> = {
  'first page': () => ({}),
  'first page by cursor': () => ({ cursor: '' }),
  'last page by skip': (_, size) => ({ skip: String(size - 10) }),
  'last page by cursor': (category, size) => ({ cursor: cursorBehind(category, size - 10) }),
  'where, matching 1 %': () => ({ where: '{weight:7}' }),
  'where by cursor': () => ({ where: '{weight:7}', cursor: '' }),
  'where on links alone': () => ({ where: '{objectId:{$in:[7,77]}}' }),
  'order=-releaseDate': () => ({ order: '-releaseDate' }),
}

const columns = ['request', ...[...sizes.values()].map((size) => `${size.toLocaleString('en')} links`)]

/** What was measured of each request, for a category of each size. */
export type ListFigures<Figures> = readonly (readonly [request: string, bySize: readonly Figures[]])[]

/** Measures each request on each category, one after the other. */
export const measureEachList = async <Figures>(
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

/** The table of one figure. */
export const listTable = <Figures>(
  title: string,
  figures: ListFigures<Figures>,
  cell: (figures: Figures) => number,
): Table => ({ title, columns, rows: figures.map(([name, row]) => [name, ...row.map(cell)]) })
