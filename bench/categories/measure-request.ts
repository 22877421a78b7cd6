import { connectToTables } from '../../local/embedded-tables.ts'
import { median } from '../quantile.ts'
import { meteredHandler } from './metered-handler.ts'

/**
 * A process of its own per measurement, as a Lambda function would be: reads from its arguments a socket, a path, a query and how often to
 * repeat, and prints what one such request takes. The peak is that of the whole process, Node and all.
 */
const [, , socket = '', path = '', query = '{}', repetitions = '1'] = process.argv

const { documents, close } = connectToTables(socket)
const { request, takeUnits } = meteredHandler(documents, 1_000_000)

// Finds out who calls, and opens connections: what every first request pays.
await request('GET', path, { limit: '1', cursor: '' })
const times: number[] = []
let units = 0
for (let repetition = 0; repetition < Number(repetitions); repetition++) {
  takeUnits()
  const startedAt = performance.now()
  const { status, body } = await request('GET', path, JSON.parse(query))
  times.push(performance.now() - startedAt)
  units = takeUnits().read
  if (status !== 200) throw new Error(`${status} ${body}`)
}
await close()
console.log(JSON.stringify({ ms: median(times), units, peakMiB: process.resourceUsage().maxRSS / 1024 }))
