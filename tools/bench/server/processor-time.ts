import autocannon from 'autocannon'
import { recordOf } from '../../../lib/core/names.ts'
import { atMost, inTurns, type Table } from '../measure/figures.ts'
import { type BenchedService, startService, trees } from '../measure/trees.ts'
import { prepare, reads } from './rates.ts'

const turns = 9
const requests = 5_000
const target = 1.03

/** In microseconds, for each of some equal requests that follow one another. */
const processorTimeOf = async ({ baseUrl, token, process }: BenchedService, path: string): Promise<number> => {
  const before = process.processorTime()
  const headers = { Authorization: token }
  const { non2xx, errors } = await autocannon({ url: `${baseUrl}${path}`, headers, connections: 1, amount: requests })
  if (non2xx + errors > 0) throw new Error(`${path}: ${non2xx} refused, ${errors} failed`)
  return (process.processorTime() - before) / requests
}

/**
 * Compares the processor time of warm requests with that of an earlier checkout, which `BASELINE` names. Other load on
 * the machine changes processor times less than rates.
 */
export const measureProcessorTime = async (): Promise<readonly Table[]> => {
  const compared = trees()
  if (compared.length < 2) return []
  const services = await Promise.all(compared.map((tree) => startService(tree)))
  try {
    for (const service of services) await prepare(service)
    const rows: (string | number)[][] = []
    for (const { name, path } of reads.filter(({ numbered }) => !numbered)) {
      const figures = services.map((service, index) => [String(index), () => processorTimeOf(service, path)] as const)
      const { 0: before = 0, 1: now = 0 } = await inTurns(turns, recordOf(figures))
      rows.push([name, before.toFixed(1), now.toFixed(1), (now / before).toFixed(3), ...atMost(now / before, target)])
    }
    return [
      {
        title: `Processor time of a warm request, µs (median of ${turns} turns of ${requests} requests, alternating)`,
        columns: ['request', 'baseline', 'this tree', 'ratio', 'target', 'verdict'],
        rows,
      },
    ]
  } finally {
    for (const service of services) await service.stop()
  }
}
