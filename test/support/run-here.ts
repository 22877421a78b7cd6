import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'

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
  for (const method of ['log', 'warn', 'error'] as const) {
    const stream = method === 'log' ? 'stdout' : 'stderr'
    const print = console[method].bind(console)
    console[method] = (...values: unknown[]) =>
      terminals.getStore() ? void process[stream].write(`${values.join(' ')}\n`) : print(...values)
  }
  const { stdin } = process
  Object.defineProperty(process, 'stdin', { configurable: true, get: () => terminals.getStore()?.stdin ?? stdin })
}

export interface CommandOutput {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in this process, which is faster than a new process. */
export const runHere = async (
  command: (args: readonly string[]) => Promise<number>,
  args: readonly string[],
  input = '',
): Promise<CommandOutput> => {
  installTerminals()
  const terminal: Terminal = { stdin: Readable.from([Buffer.from(input)]), messageText: { stdout: '', stderr: '' } }
  const status = await terminals.run(terminal, () => command(args))
  return { status, ...terminal.messageText }
}
