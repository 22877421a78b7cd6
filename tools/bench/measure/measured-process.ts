import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { atMost } from './figures.ts'

interface Memory {
  /** In MiB, since the last reset. */
  peak(): number
  /** Resets the peak. Returns the present memory, in MiB. */
  reset(): number
}

export interface MeasuredProcess extends Memory {
  readonly line: string
  stop(): Promise<void>
}

const mebibytes = (pid: number | undefined, field: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024
}

/** Works on Linux only, because it reads `/proc`. */
export const memoryOf = (pid: number | undefined): Memory => ({
  peak: () => mebibytes(pid, 'VmHWM'),
  reset() {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return mebibytes(pid, 'VmRSS')
  },
})

/** Measures by how many MiB some work raises the peak of memory. Returns a row of the table. */
export const growthRow = async (memory: Memory, name: string, target: number, work: () => Promise<unknown>) => {
  const before = memory.reset()
  await work()
  const growth = memory.peak() - before
  return [name, growth.toFixed(0), '', '', ...atMost(growth, target)]
}

export const startMeasured = async (
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  nodeFlags: readonly string[] = [],
): Promise<MeasuredProcess> => {
  const child: ChildProcess = spawn(process.execPath, [...nodeFlags, file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const { stdout } = child
  if (!stdout) throw new Error('The process has no output')
  const [line] = (await once(createInterface(stdout), 'line')) as [string]
  return {
    line,
    ...memoryOf(child.pid),
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
