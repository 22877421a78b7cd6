import { openMachine } from '../../../lib/machine/machine.ts'
import { median } from '../measure/figures.ts'
import { askOver } from './library.ts'

/**
 * A process that measures one request. Its arguments are a data directory, a token, a path, a query and the number of
 * repetitions. It prints the figures. The peak of memory includes Node itself.
 */
const [, , directory = '', token = '', path = '', query = '{}', repetitions = '1'] = process.argv

const machine = await openMachine(directory)
const ask = askOver(machine.stores, token)

// The first request also resolves the caller, so it is not measured.
await ask('GET', path, { limit: '1', cursor: '' })
const times: number[] = []
for (let repetition = 0; repetition < Number(repetitions); repetition++) {
  const startedAt = performance.now()
  const { status, text } = await ask('GET', path, JSON.parse(query))
  times.push(performance.now() - startedAt)
  if (status !== 200) throw new Error(`${status} ${text}`)
}
await machine.close()
console.log(JSON.stringify({ ms: median(times), peakMiB: process.resourceUsage().maxRSS / 1024 }))
