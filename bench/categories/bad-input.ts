import { type Table, verdict } from '../table.ts'
import type { Ask } from './ask.ts'
import { newsOf, smallCategory } from './library.ts'

const target = 100

const path = newsOf(smallCategory)
const nested = (open: string, close: string) => open.repeat(1_000) + close.repeat(1_000)
const many = (count: number) => JSON.stringify({ items: Array.from({ length: count }, () => ({ objectId: -1 })) })

const lists: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'where: 1,000 groups deep': { where: nested('{$and:[', ']}') },
  'where: 1,000 brackets deep': { where: nested('[', ']') },
  'where: not closed': { where: '{a:'.repeat(1_000) },
  'where: 1 MB': { where: `{subject:'${'a'.repeat(1_000_000)}'}` },
  'where: 100 searches that nearly match': { where: `{$or:[${"{subject:{$contains:'What happenee'}},".repeat(95)}]}` },
  'where: a list of 2,000': { where: `{weight:{$nin:[${'1,'.repeat(2_000)}]}}` },
  'where: what would be a slow pattern': { where: "{subject:{$contains:'(a+)+$'}}" },
  'order: 5,000 terms': { order: 'subject,-weight,'.repeat(2_500) },
  'fields: 10,000 names': { fields: 'news(subject,'.repeat(10_000) },
  'cursor: 1 MB': { cursor: 'W'.repeat(1_000_000) },
  'limit: 10,000 digits': { limit: '9'.repeat(10_000) },
}

const bodies: Readonly<Record<string, string>> = {
  'items: 501': many(501),
  'items: 500, all bad': many(500),
  'items: 64 KB of brackets': '['.repeat(65_000),
  'items: 64 KB, 20,000 entries': `{"items":[${'1,'.repeat(30_000)}1]}`,
}

/** What it takes to answer requests that mean harm, on a category of 100 links: CPU time of the process, the store included. */
export const measureBadInput = async (ask: Ask): Promise<Table> => {
  await ask('GET', path)
  const rows: (string | number)[][] = []
  const measure = async (name: string, send: () => ReturnType<Ask>) => {
    const before = process.cpuUsage()
    const { status } = await send()
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1_000
    rows.push([name, status, ms.toFixed(1), verdict(ms <= target)])
  }
  for (const [name, query] of Object.entries(lists)) await measure(name, () => ask('GET', path, query))
  for (const [name, body] of Object.entries(bodies)) {
    await measure(`POST ${name}`, () => ask('POST', path, {}, body))
    await measure(`DELETE ${name}`, () => ask('DELETE', path, {}, body))
  }
  return {
    title: `Hostile requests: CPU, ms (target ${target})`,
    columns: ['request', 'status', 'CPU, ms', 'verdict'],
    rows,
  }
}
