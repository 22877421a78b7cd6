import { recordOf } from '../../lib/core/names.ts'
import { atMost, type Bench, inTurns, type Table } from './measure/figures.ts'
import { startService, type Tree, trees } from './measure/trees.ts'
import { measureRates } from './server/rates.ts'
import { measureReaders } from './server/readers.ts'
import { measureRights } from './server/rights.ts'
import { measureWaits } from './server/waits.ts'

const runs = 9
const target = 0.7

/** In milliseconds, from the start of node to the first answer to a real request, on an empty directory. */
const startOnce = async (tree: Tree): Promise<number> => {
  const startedAt = performance.now()
  const service = await startService(tree)
  try {
    const answer = await fetch(`${service.baseUrl}/api/v1/admin/sites/current/webforms/1/fields/system`, {
      headers: { Authorization: service.token },
    })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`The first answer is ${answer.status}`)
    return performance.now() - startedAt
  } finally {
    await service.stop()
  }
}

const measureStart = async (): Promise<Table> => {
  const compared = trees()
  const [first] = compared
  const start = (tree: Tree) => () => startOnce(tree)
  const times = await inTurns(runs, recordOf(compared.map((tree) => [tree.name, start(tree)])))
  const rows = compared.map(({ name }, index) => {
    const time = times[name] ?? 0
    const ratio = index > 0 && first ? time / (times[first.name] ?? 0) : undefined
    return [
      name,
      Math.round(time),
      ...(ratio === undefined ? ['', '', ''] : [ratio.toFixed(2), ...atMost(ratio, target)]),
    ]
  })
  return {
    title: `Start on an empty directory, from the start of node to the first answer, ms (median of ${runs}, alternating)`,
    columns: ['tree', 'ms', 'of the baseline', 'target', 'verdict'],
    rows,
  }
}

/**
 * Measures the server on one machine: rates in comparison with a bare server, the start, waiting times, and the cost of
 * readers and of rights.
 */
export const server: Bench = async () => [
  await measureStart(),
  await measureRates(),
  await measureWaits(),
  await measureReaders(),
  await measureRights(),
]
