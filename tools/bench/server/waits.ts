import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, median, seconds, type Table } from '../measure/figures.ts'
import { inScratchFolder } from '../measure/grounds.ts'
import { type BenchedService, startService, type Tree, trees } from '../measure/trees.ts'

const links = 20_000
const runs = 7
const targets = { where: 300, waitBesideWhere: 50, waitBesideImport: 200, importSeconds: 60 }

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const lines = (records: readonly object[]) => `${records.map((record) => JSON.stringify(record)).join('\n')}\n`

const newsRecord = (id: number) => ({
  kind: 'news',
  id,
  subject: `Subject ${id} of the bench`,
  body: `<p>${'Some text of a news item. '.repeat(8)}</p>`,
  weight: id % 100,
})

/** Records of several kinds for an import. A quarter of the records are links. */
const records = (count: number, firstId: number): string => {
  const news = Math.floor(count * 0.75)
  const ids = numbers(news).map((id) => firstId + id)
  return lines([
    ...ids.map(newsRecord),
    ...ids
      .slice(0, count - news)
      .map((objectId) => ({ kind: 'link', type: 'news', categoryId: 7, objectId, displayable: 1 })),
  ])
}

/**
 * Measures the longest time that a small request waits during other work, in milliseconds. The requests follow one
 * another.
 */
const longestWait = async <Result>(
  { baseUrl, token }: BenchedService,
  work: Promise<Result>,
): Promise<{ longest: number; count: number; result: Result }> => {
  const state = { isDone: false }
  work.then(
    () => Object.assign(state, { isDone: true }),
    () => Object.assign(state, { isDone: true }),
  )
  let longest = 0
  let count = 0
  while (!state.isDone) {
    const startedAt = performance.now()
    const answer = await fetch(`${baseUrl}/api/v1/admin/sites/current/webforms/1`, {
      headers: { Authorization: token },
    })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`A request beside the work was answered ${answer.status}`)
    longest = Math.max(longest, performance.now() - startedAt)
    count += 1
    await sleep(1)
  }
  return { longest, count, result: await work }
}

const measureWhere = async (tree: Tree, service: BenchedService, folder: string) => {
  const file = join(folder, 'where.jsonl')
  const ids = numbers(links)
  await writeFile(
    file,
    lines([
      { kind: 'category', id: 7, name: 'Large' },
      ...ids.map(newsRecord),
      ...ids.map((objectId) => ({ kind: 'link', type: 'news', categoryId: 7, objectId })),
    ]),
  )
  await service.administer('import', file, '--site', '1001')
  let asked = 0
  const list = async () => {
    // Pages are cached, so each request names a different unknown field.
    const query = new URLSearchParams({ where: '{weight: 99}', limit: '10', fields: `f${asked++}` })
    const url = `${service.baseUrl}/webresources/api/v3/sites/current/categories/7/news?${query}`
    const answer = await fetch(url, { headers: { Authorization: service.token } })
    const page = (await answer.json()) as { totalItemsCount: number }
    if (page.totalItemsCount !== links / 100) throw new Error(`The list has ${page.totalItemsCount} items`)
  }
  await list()
  const times: number[] = []
  const waits: number[] = []
  for (let run = 0; run < runs; run++) times.push((await seconds(list)) * 1000)
  for (let run = 0; run < runs; run++) waits.push((await longestWait(service, list())).longest)
  const time = median(times)
  const wait = median(waits)
  const beside = 'longest wait of a request beside it, ms (median)'
  return [
    [tree.name, `where over ${links} links, ms`, Math.round(time), ...atMost(time, targets.where)],
    [tree.name, beside, Math.round(wait), ...atMost(wait, targets.waitBesideWhere)],
  ]
}

const measureImports = async (tree: Tree, service: BenchedService, folder: string) => {
  const small = join(folder, '50000.jsonl')
  const large = join(folder, '200000.jsonl')
  await writeFile(small, records(50_000, 1_000_000))
  await writeFile(large, records(200_000, 2_000_000))
  const { longest, count } = await longestWait(service, service.administer('import', small, '--site', '1001'))
  const taken = await seconds(() => service.administer('import', large, '--site', '1001'))
  const beside = `longest wait of ${count} requests beside an import of 50,000 records, ms`
  return [
    [tree.name, beside, Math.round(longest), ...atMost(longest, targets.waitBesideImport)],
    [tree.name, 'import of 200,000 records, s', taken.toFixed(1), ...atMost(taken, targets.importSeconds)],
  ]
}

/** Measures how long heavy work takes, and how long other requests wait meanwhile. */
export const measureWaits = async (): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const tree of trees()) {
    const service = await startService(tree)
    try {
      await inScratchFolder(async (folder) => {
        rows.push(...(await measureWhere(tree, service, folder)), ...(await measureImports(tree, service, folder)))
      })
    } finally {
      await service.stop()
    }
  }
  return {
    title: 'Heavy work, and the wait of other requests',
    columns: ['tree', 'figure', 'value', 'target', 'verdict'],
    rows,
  }
}
