import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { run as runHere } from '../../admin/program.ts'
import { type Outcome, run } from './program.ts'

interface Terminal {
  readonly stdin: Readable
  readonly messageText: { stdout: string; stderr: string }
}

/** Commands may run concurrently, so each command finds its own terminal by its asynchronous context. */
const terminals = new AsyncLocalStorage<Terminal>()
let isInstalled = false

const installTerminals = (): void => {
  if (isInstalled) return
  isInstalled = true
  for (const name of ['stdout', 'stderr'] as const) {
    const write = process[name].write.bind(process[name])
    const say = (text: string | Uint8Array, ...rest: unknown[]): boolean => {
      const terminal = terminals.getStore()
      if (!terminal) return write(text, ...(rest as []))
      terminal.messageText[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      const written = rest.at(-1)
      if (typeof written === 'function') process.nextTick(written as () => void)
      return true
    }
    process[name].write = say
  }
  for (const [method, stream] of [
    ['log', 'stdout'],
    ['warn', 'stderr'],
    ['error', 'stderr'],
  ] as const) {
    const print = console[method].bind(console)
    console[method] = (...values: unknown[]) =>
      terminals.getStore() ? void process[stream].write(`${values.join(' ')}\n`) : print(...values)
  }
  const { stdin } = process
  Object.defineProperty(process, 'stdin', { configurable: true, get: () => terminals.getStore()?.stdin ?? stdin })
}

type CommandOutput = Pick<Outcome, 'status' | 'stdout' | 'stderr'>

/** Runs `site-admin` in this process, which is faster than a new process. */
export const administerWith = async (args: readonly string[], input = ''): Promise<CommandOutput> => {
  installTerminals()
  const terminal: Terminal = { stdin: Readable.from([Buffer.from(input)]), messageText: { stdout: '', stderr: '' } }
  const status = await terminals.run(terminal, () => runHere(args))
  return { status, ...terminal.messageText }
}

/** Runs `site-admin` on a data directory, in this process. */
export const administer = (dataDirectory: string, args: readonly string[], input?: string): Promise<CommandOutput> =>
  administerWith(['--data-dir', dataDirectory, ...args], input)

/** Runs `site-admin` in its own process. The signal ends the process, for example when a test has timed out. */
export const administerApart = (
  dataDirectory: string,
  args: readonly string[],
  input?: string,
  signal?: AbortSignal,
): Promise<Outcome> => run('admin/main.js', ['--data-dir', dataDirectory, ...args], input, signal)

/** Runs `site-admin --json` and returns the printed value. Rejects if the command fails. */
export const administerJson = async (dataDirectory: string, args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = await administer(dataDirectory, ['--json', ...args], input)
  if (status !== 0) throw new Error(`site-admin ${args.join(' ')} ended with status ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

/**
 * Commands on a data directory, as lines: `run` returns the printed value, and `attempt` the outcome, which may be a
 * refusal.
 */
export const commandsOn = (dataDirectory: string) => ({
  run: (line: string, input?: string) => administerJson(dataDirectory, line.split(' '), input),
  attempt: (line: string, input?: string) => administer(dataDirectory, line.split(' '), input),
})

/** The message of a refused command: the reason and the data directory. */
export const refusedIn = (dataDirectory: string, reason: string): string =>
  `${reason} (Data directory: ${dataDirectory})\n`
