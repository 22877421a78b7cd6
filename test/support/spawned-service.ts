import { readFileSync } from 'node:fs'
import type { Demo } from '../../lib/machine/directory/demo-file.ts'
import type { RunningService } from '../../local/service.ts'
import { launch } from './program.ts'

type Ready = Pick<RunningService, 'baseUrl' | 'dataCentres'> & Demo

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
/** The options of Node and the file that `npm start` runs. */
const [first = '', ...rest] = scripts.start.replace(/^exec node /, '').split(' ')

export const requestsTo =
  (baseUrl: string, token: string) =>
  (path: string, { headers, ...init }: RequestInit = {}): Promise<Response> =>
    fetch(new URL(path, baseUrl), {
      redirect: 'manual',
      ...init,
      headers: { Authorization: token, ...(init.body && { 'Content-Type': 'application/json' }), ...headers },
    })

/** Starts the service on a data directory and any free port. Resolves when the service accepts requests. */
export const startService = async (
  dataDirectory: string,
  flags: readonly string[] = ['--port', '0'],
  environment: Readonly<Record<string, string>> = {},
) => {
  const program = launch(first, [...rest, '--json', '--data-dir', dataDirectory, ...flags], environment)
  const line = await program.line()
  const ready: Ready = JSON.parse(line)
  return {
    ...ready,
    pid: program.pid,
    directory: dataDirectory,
    line,
    request: requestsTo(ready.baseUrl, ready.token),
    kill: program.kill,
    ended: program.ended,
    /** Ends the process in any state, and waits for its end. */
    stop() {
      program.kill('SIGTERM')
      return program.ended
    },
  }
}

export type SpawnedService = Awaited<ReturnType<typeof startService>>
