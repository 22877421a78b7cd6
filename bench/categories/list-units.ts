import type { Consumed } from '../meter.ts'
import type { Table } from '../table.ts'
import type { Ask } from './ask.ts'
import { newsOf } from './library.ts'
import { listTable, measureEachList } from './list-requests.ts'

/** How the read units of each request grow with the category. */
export const measureListUnits = async (ask: Ask, takeConsumed: () => Consumed): Promise<Table> => {
  const figures = await measureEachList(async (category, query) => {
    takeConsumed()
    const { status, body } = await ask('GET', newsOf(category), query)
    if (status !== 200) throw new Error(`${status} ${body}`)
    return takeConsumed().readUnits
  })
  return listTable('Read units of a list', figures, (units) => units)
}
