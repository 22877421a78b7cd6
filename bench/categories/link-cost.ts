import type { Consumed } from '../meter.ts'
import { type Table, verdict } from '../table.ts'
import type { Ask } from './ask.ts'
import { emptyCategory, newsOf } from './library.ts'

const count = 1_000
const perRequest = 100
const target = 2.1

const changeAll = async (ask: Ask, method: string): Promise<void> => {
  for (let from = 1; from <= count; from += perRequest) {
    const items = Array.from({ length: perRequest }, (_, index) => ({ objectId: from + index }))
    const { status, body } = await ask(method, newsOf(emptyCategory), {}, JSON.stringify({ items }))
    if (status >= 300) throw new Error(`${status} ${body}`)
  }
}

const requests = [
  { name: 'link', method: 'POST', limit: target },
  { name: 'link again', method: 'POST', limit: 0 },
  { name: 'unlink', method: 'DELETE', limit: target },
]

const title = (what: string) => `${what} per link of ${count.toLocaleString('en')} links, in requests of ${perRequest}`

/** How long linking takes, changes on the disk. */
export const measureLinkTimes = async (ask: Ask): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const { name, method } of requests) {
    const startedAt = performance.now()
    await changeAll(ask, method)
    rows.push([name, ((performance.now() - startedAt) / count).toFixed(4)])
  }
  return { title: title('Time'), columns: ['what', 'ms'], rows }
}

/** What linking consumes, the index included. */
export const measureLinkUnits = async (ask: Ask, takeConsumed: () => Consumed): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const { name, method, limit } of requests) {
    takeConsumed()
    await changeAll(ask, method)
    const { readUnits, writeUnits } = takeConsumed()
    const perLink = writeUnits / count
    rows.push([name, readUnits / count, perLink, `<= ${limit}`, verdict(perLink <= limit)])
  }
  return { title: title('Units'), columns: ['what', 'RCU', 'WCU', 'target', 'verdict'], rows }
}
