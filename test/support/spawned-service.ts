import { readFileSync } from 'node:fs'
import { launch, type Outcome } from './program.ts'

/** A service in its own process, started as `npm start` does. */
export interface SpawnedService {
  readonly pid: number
  readonly directory: string
  readonly baseUrl: string
  readonly dataCentres: Readonly<Record<string, string>>
  readonly siteId: number
  readonly webFormId: number
  readonly token: string
  readonly line: string
  /** Sends a request with the demo token, to a path of the first data centre or an absolute URL. */
  request(path: string, init?: RequestInit): Promise<Response>
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<Outcome>
  /** Ends the process in any state, and waits for its end. */
  stop(): Promise<Outcome>
}

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
/** The options of Node and the file that `npm start` runs. */
const [first = '', ...rest] = scripts.start.replace(/^exec node /, '').split(' ')

export const requestsTo =
  (baseUrl: string, token: string): SpawnedService['request'] =>
  (path, { headers, ...init } = {}) =>
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
): Promise<SpawnedService> => {
  const program = launch(first, [...rest, '--json', '--data-dir', dataDirectory, ...flags], environment)
  const line = await program.line()
  const { baseUrl, dataCentres, siteId, webFormId, token } = JSON.parse(line)
  return {
    pid: program.pid,
    directory: dataDirectory,
    baseUrl,
    dataCentres,
    siteId,
    webFormId,
    token,
    line,
    request: requestsTo(baseUrl, token),
    kill: program.kill,
    ended: program.ended,
    stop() {
      program.kill('SIGTERM')
      return program.ended
    },
  }
}
