import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { median } from '../quantile.ts'
import { inScratchFolder } from '../scratch-folder.ts'
import { type Table, verdict } from '../table.ts'

const runs = 7
const target = 2_000

interface Ready {
  readonly baseUrl: string
  readonly token: string
}

/** npm is the child and node a grandchild: both are ended through their process group. */
const stop = async (child: ChildProcess): Promise<void> => {
  const closed = once(child, 'close')
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await closed
}

/** Milliseconds from the command to the first answer of a real request. */
const startOnce = async (dataDirectory: string): Promise<number> => {
  const startedAt = performance.now()
  const child = spawn(
    'npm',
    ['start', '--silent', '--', '--port', '0', '--json', '--quiet', '--data-dir', dataDirectory],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    for await (const line of createInterface(child.stdout)) {
      const { baseUrl, token } = JSON.parse(line) as Ready
      const answer = await fetch(`${baseUrl}/api/v1/admin/sites/current/webforms/1/fields/system`, {
        headers: { Authorization: token },
      })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`The first answer is ${answer.status}`)
      return performance.now() - startedAt
    }
    throw new Error('npm start ended before it was ready')
  } finally {
    await stop(child)
  }
}

const row = (name: string, times: readonly number[]) => {
  const worst = Math.max(...times)
  return [name, Math.round(median(times)), Math.round(worst), target, verdict(worst <= target)]
}

/** From `npm start` to its first answer, on an empty data directory and on one in use before. */
export const measureStart = async (): Promise<Table> => {
  const first: number[] = []
  const later: number[] = []
  for (let run = 0; run < runs; run++) {
    await inScratchFolder(async (directory) => {
      first.push(await startOnce(directory))
      later.push(await startOnce(directory))
    })
  }
  return {
    title: `npm start to first answer, ms (${runs} runs each)`,
    columns: ['data directory', 'median', 'worst', 'target', 'verdict'],
    rows: [row('empty', first), row('in use before', later)],
  }
}
