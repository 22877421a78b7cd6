import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { preparePython } from '../../test/support/python-environment.ts'

/** The path of the fuzzer, which is installed into a Python environment of the project on first use. */
export const fuzzer = (): string => {
  const folder = join(import.meta.dirname, '..', '..', '.local', 'fuzz')
  return join(preparePython(folder, join(import.meta.dirname, 'requirements.txt')), 'schemathesis')
}

export interface FuzzedService {
  readonly baseUrl: string
  readonly siteId: number
  readonly token: string
  stop(): Promise<void>
}

interface Task {
  readonly command: string
  readonly service: FuzzedService
  readonly document: string
  readonly reports: string
  readonly tally: string
  readonly examples: number
  readonly seed: string
  readonly workers: string
  /** Milliseconds. */
  readonly budget: number
}

// Milliseconds for the report of a stopped fuzzer.
const timeToReport = 15_000

/** Runs the fuzzer within the budget. Returns its exit status, and whether it was stopped. */
export const fuzz = async (task: Task): Promise<{ readonly status: number; readonly stopped: boolean }> => {
  const { command, service, document, reports, budget } = task
  const child = spawn(
    command,
    [
      '--config-file',
      join(import.meta.dirname, 'schemathesis.toml'),
      'run',
      // From a file, because the fuzzer does not test the address of its own document.
      document,
      `--url=${service.baseUrl}`,
      `--max-examples=${task.examples}`,
      `--seed=${task.seed}`,
      `--workers=${task.workers}`,
      '--report=json',
      `--report-json-path=${join(reports, 'report.json')}`,
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        FUZZ_SITE: String(service.siteId),
        FUZZ_TOKEN: service.token,
        FUZZ_TALLY: task.tally,
      },
    },
  )
  let stopped = false
  const stop = setTimeout(() => {
    stopped = true
    child.kill('SIGINT')
  }, budget)
  const kill = setTimeout(() => child.kill('SIGKILL'), budget + timeToReport)
  const [status] = await once(child, 'exit')
  clearTimeout(stop)
  clearTimeout(kill)
  return { status: Number(status ?? 1), stopped }
}
