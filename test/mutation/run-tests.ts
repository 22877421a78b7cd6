import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A test file in one project. The acceptance tests run on two kinds of stores, so they are in two projects. */
export interface TestFile {
  readonly project: string
  readonly test: string
}

export interface TestRun {
  readonly tests: readonly TestFile[]
  /** Runs all tests and records which places they visit. Otherwise, the first failure ends the run. */
  readonly isRecording?: boolean
}

export interface Outcome {
  readonly failed: TestFile | null
}

const root = join(import.meta.dirname, '..', '..')

const minute = 60_000

/** In milliseconds. Tests that run longer have failed, because a change can make them run forever. */
const patienceFor = ({ tests, isRecording }: TestRun): number => {
  if (isRecording) return 30 * minute
  return tests.some(({ project }) => project === 'long') ? 4 * minute : 1.5 * minute
}

/** Runs tests in their order. Returns the first one that fails or does not end in time, or null. */
export const runTests = async (
  run: TestRun,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestFile | null> => {
  const env = { ...process.env, ...environment, TEST_RUN: JSON.stringify(run) }
  const running = fork(join(import.meta.dirname, 'test-process.ts'), {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env,
  })
  let outcome: Outcome | undefined
  running.on('message', (message: Outcome) => {
    outcome = message
  })
  const timer = setTimeout(() => process.kill(-Number(running.pid), 'SIGKILL'), patienceFor(run))
  await once(running, 'exit')
  clearTimeout(timer)
  if (!outcome) throw new Error(`The tests could not run: ${JSON.stringify(run.tests)}`)
  return outcome.failed
}
