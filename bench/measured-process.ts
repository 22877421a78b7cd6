import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A process whose first line says that it is ready, and whose memory is looked at from outside. */
export interface MeasuredProcess {
  readonly line: string
  /** The most memory that it has had since the last reset, in MiB. */
  peak(): number
  /** Forgets the peak so far. Answers what it has now, in MiB. */
  reset(): number
  stop(): Promise<void>
}

const mebibytes = (pid: number | undefined, field: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024
}

/** Runs a file of this repository with Node. The peak of its memory is the kernel's own, so Linux is needed. */
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
    peak: () => mebibytes(child.pid, 'VmHWM'),
    reset() {
      writeFileSync(`/proc/${child.pid}/clear_refs`, '5')
      return mebibytes(child.pid, 'VmRSS')
    },
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
