import { storesOver } from '../../test/support/every-operation.ts'
import { type Ask, askOver, emptyCategory, newsOf, smallCategory, storeLibrary } from './categories/library.ts'
import { measureListTimes, measureListUnits } from './categories/lists.ts'
import { type Bench, type Table, verdict } from './measure/figures.ts'
import { onMachine, onTables } from './measure/grounds.ts'
import { type Consumed, meter } from './measure/meter.ts'

const linkCount = 1_000
const perRequest = 100
const mostUnits = 2.1

const changeAll = async (ask: Ask, method: string): Promise<void> => {
  for (let from = 1; from <= linkCount; from += perRequest) {
    const items = Array.from({ length: perRequest }, (_, index) => ({ objectId: from + index }))
    const { status, text } = await ask(method, newsOf(emptyCategory), {}, JSON.stringify({ items }))
    if (status >= 300) throw new Error(`${status} ${text}`)
  }
}

const linkRequests = [
  { name: 'link', method: 'POST', limit: mostUnits },
  { name: 'link again', method: 'POST', limit: 0 },
  { name: 'unlink', method: 'DELETE', limit: mostUnits },
]

const title = (what: string) =>
  `${what} per link of ${linkCount.toLocaleString('en')} links, in requests of ${perRequest}`

// The service flushes each change to the disk.
const measureLinkTimes = async (ask: Ask): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const { name, method } of linkRequests) {
    const startedAt = performance.now()
    await changeAll(ask, method)
    rows.push([name, ((performance.now() - startedAt) / linkCount).toFixed(4)])
  }
  return { title: title('Time'), columns: ['what', 'ms'], rows }
}

// The capacity units include those of the index.
const measureLinkUnits = async (ask: Ask, takeConsumed: () => Consumed): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const { name, method, limit } of linkRequests) {
    takeConsumed()
    await changeAll(ask, method)
    const { readUnits, writeUnits } = takeConsumed()
    const perLink = writeUnits / linkCount
    rows.push([name, readUnits / linkCount, perLink, `<= ${limit}`, verdict(perLink <= limit)])
  }
  return { title: title('Units'), columns: ['what', 'RCU', 'WCU', 'target', 'verdict'], rows }
}

const mostCpu = 100

const smallList = newsOf(smallCategory)
const nested = (open: string, close: string) => open.repeat(1_000) + close.repeat(1_000)
const many = (count: number) => JSON.stringify({ items: Array.from({ length: count }, () => ({ objectId: -1 })) })

const badQueries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'where: 1,000 groups deep': { where: nested('{$and:[', ']}') },
  'where: 1,000 brackets deep': { where: nested('[', ']') },
  'where: not closed': { where: '{a:'.repeat(1_000) },
  'where: 1 MB': { where: `{subject:'${'a'.repeat(1_000_000)}'}` },
  'where: 100 searches that nearly match': { where: `{$or:[${"{subject:{$contains:'What happenee'}},".repeat(95)}]}` },
  'where: a list of 2,000': { where: `{weight:{$nin:[${'1,'.repeat(2_000)}]}}` },
  'where: a slow pattern': { where: "{subject:{$contains:'(a+)+$'}}" },
  'order: 5,000 terms': { order: 'subject,-weight,'.repeat(2_500) },
  'fields: 10,000 names': { fields: 'news(subject,'.repeat(10_000) },
  'cursor: 1 MB': { cursor: 'W'.repeat(1_000_000) },
  'limit: 10,000 digits': { limit: '9'.repeat(10_000) },
}

const badBodies: Readonly<Record<string, string>> = {
  'items: 501': many(501),
  'items: 500, all bad': many(500),
  'items: 64 KB of brackets': '['.repeat(65_000),
  'items: 64 KB, 20,000 entries': `{"items":[${'1,'.repeat(30_000)}1]}`,
}

/** Measures the CPU time of hostile requests on a category of 100 links. The time includes the store. */
const measureBadInput = async (ask: Ask): Promise<Table> => {
  await ask('GET', smallList)
  const rows: (string | number)[][] = []
  const measure = async (name: string, send: () => ReturnType<Ask>) => {
    const before = process.cpuUsage()
    const { status } = await send()
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1_000
    rows.push([name, status, ms.toFixed(1), verdict(ms <= mostCpu)])
  }
  for (const [name, query] of Object.entries(badQueries)) await measure(name, () => ask('GET', smallList, query))
  for (const [name, body] of Object.entries(badBodies)) {
    await measure(`POST ${name}`, () => ask('POST', smallList, {}, body))
    await measure(`DELETE ${name}`, () => ask('DELETE', smallList, {}, body))
  }
  return {
    title: `Hostile requests: CPU, ms (target ${mostCpu})`,
    columns: ['request', 'status', 'CPU, ms', 'verdict'],
    rows,
  }
}

// The default of `npm start`.
const longestList = 20_000

const measureOnMachine = (): Promise<readonly Table[]> =>
  onMachine(async ({ stores, directory }) => {
    const token = await storeLibrary(stores)
    const ask = askOver(stores, token, longestList)
    return [...(await measureListTimes(directory.path, token)), await measureLinkTimes(ask), await measureBadInput(ask)]
  })

const measureOnTables = (): Promise<readonly Table[]> =>
  onTables(async (dynamodb) => {
    const stores = storesOver(dynamodb)
    const ask = askOver(stores, await storeLibrary(stores))
    const takeConsumed = meter(dynamodb)
    // The first request also resolves the caller, so it is not measured.
    await ask('GET', '/webresources/api/v3/sites/1001/categories')
    return [await measureListUnits(ask, takeConsumed), await measureLinkUnits(ask, takeConsumed)]
  })

/**
 * Measures lists by size of the category, and the cost of links and of hostile requests: the time on one machine, and
 * the capacity units in DynamoDB. This takes some minutes.
 */
export const categories: Bench = async () => [...(await measureOnMachine()), ...(await measureOnTables())]
