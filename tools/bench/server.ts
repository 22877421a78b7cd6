import { type Bench, median, type Table, verdict } from './measure/figures.ts'
import { measureRates } from './server/rates.ts'
import { measureReaders } from './server/readers.ts'
import { startService, type Tree, trees } from './server/trees.ts'
import { measureWaits } from './server/waits.ts'

const runs = 9
const target = 0.7

/** Milliseconds from the start of node to the first answer of a real request, on an empty directory. */
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

/** Alternating, after one unmeasured run of each tree. */
const measureStart = async (): Promise<Table> => {
  const compared = trees()
  const times = new Map<Tree, number[]>(compared.map((tree) => [tree, []]))
  for (let run = 0; run <= runs; run++) {
    for (const tree of compared) {
      const time = await startOnce(tree)
      if (run > 0) times.get(tree)?.push(time)
    }
  }
  const medians = compared.map((tree) => median(times.get(tree) ?? []))
  const baseline = compared.length > 1 ? medians[0] : undefined
  const rows = compared.map(({ name }, index) => {
    const time = medians[index] ?? 0
    const ratio = baseline === undefined || index === 0 ? undefined : time / baseline
    const told = ratio === undefined ? ['', '', ''] : [ratio.toFixed(2), `<= ${target}`, verdict(ratio <= target)]
    return [name, Math.round(time), ...told]
  })
  return {
    title: `Start on an empty directory, from the start of node to the first answer, ms (median of ${runs}, alternating)`,
    columns: ['tree', 'ms', 'of the baseline', 'target', 'verdict'],
    rows,
  }
}

/** The server on one machine: rates compared with a bare server, start, waiting times, and the cost of readers. */
export const server: Bench = async () => [
  await measureStart(),
  await measureRates(),
  await measureWaits(),
  await measureReaders(),
]
