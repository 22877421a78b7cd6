import { vi } from 'vitest'
import { run as runHere } from '../../admin/program.ts'
import { type Outcome, run } from './program.ts'

/** Runs `site-admin` on a data directory. */
export const administer = (
  dataDirectory: string,
  args: readonly string[],
  input?: string,
  signal?: AbortSignal,
): Promise<Outcome> => run('admin/main.js', ['--data-dir', dataDirectory, ...args], input, signal)

/** Runs `site-admin --json` and answers the value it prints. Rejects when the command does not end well. */
export const administerJson = async (dataDirectory: string, args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = await administer(dataDirectory, ['--json', ...args], input)
  if (status !== 0) throw new Error(`site-admin ${args.join(' ')} ended with status ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

/** What a person is told whose command is refused: the reason, and what it has worked on. */
export const refusedIn = (dataDirectory: string, reason: string): string =>
  `${reason} (Data directory: ${dataDirectory})\n`

/**
 * Runs `site-admin` in this process: the same program, without the time that a process takes to start. Input it has
 * none.
 */
export const administerHere = async (
  dataDirectory: string,
  args: readonly string[],
): Promise<Pick<Outcome, 'status' | 'stdout' | 'stderr'>> => {
  const said = { stdout: '', stderr: '' }
  const listen = (name: 'stdout' | 'stderr') =>
    vi.spyOn(process[name], 'write').mockImplementation((text, ...rest) => {
      said[name] += String(text)
      const written = rest.at(-1)
      if (typeof written === 'function') written()
      return true
    })
  const spies = [
    listen('stdout'),
    listen('stderr'),
    vi.spyOn(console, 'log').mockImplementation((text) => void process.stdout.write(`${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text) => void process.stderr.write(`${text}\n`)),
  ]
  try {
    const status = await runHere(['--data-dir', dataDirectory, ...args])
    return { status, ...said }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
