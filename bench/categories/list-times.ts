import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Table } from '../table.ts'
import { newsOf } from './library.ts'
import { listTable, measureEachList } from './list-requests.ts'

const entry = fileURLToPath(new URL('measure-request.ts', import.meta.url))
const run = promisify(execFile)

interface Figures {
  readonly ms: number
  readonly peakMiB: number
}

/** How each request grows with the category on one machine: in time, and in memory. Each is answered by a process of its own. */
export const measureListTimes = async (dataDirectory: string, token: string): Promise<readonly Table[]> => {
  const figures = await measureEachList(async (category, query, size): Promise<Figures> => {
    const repetitions = size > 10_000 ? '5' : '15'
    const args = [entry, dataDirectory, token, newsOf(category), JSON.stringify(query), repetitions]
    const { stdout } = await run(process.execPath, args)
    return JSON.parse(stdout)
  })
  return [
    listTable('Time of a list, ms (median, warm)', figures, ({ ms }) => Number(ms.toPrecision(3))),
    listTable('Peak memory of the process that answers, MiB', figures, ({ peakMiB }) => Math.round(peakMiB)),
  ]
}
