import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceChange } from './changes.ts'
import type { TestAnswer, TestFailure, TestRequest } from './warm-tests.ts'

/**
 * A change that makes tests run without end is noticed as well. What so many files may take on a busy machine, in
 * milliseconds.
 */
const patience = (files: number) => 45_000 + files * 5_000

/** Runs tests of a tree. Those that had to be ended count as failed, all of them. */
type RunTests = (request: TestRequest) => Promise<TestAnswer>

const startTests = async (root: string): Promise<ChildProcess> => {
  const tests = fork(join(import.meta.dirname, 'warm-tests.ts'), [root], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(tests, 'message')
  return tests
}

/** Tests in a process that is kept, and begun anew when it had to be ended. */
const createRunner = (root: string) => {
  let tests: ChildProcess | undefined
  const stop = async () => {
    if (!tests?.pid) return
    const ended = once(tests, 'exit')
    // What a test has started goes with it.
    process.kill(-tests.pid, 'SIGKILL')
    tests = undefined
    await ended
  }
  const run: RunTests = async (request) => {
    tests ??= await startTests(root)
    const patient = AbortSignal.timeout(patience(request.tests.length))
    tests.send(request)
    try {
      const [answer] = (await once(tests, 'message', { signal: patient })) as [TestAnswer]
      return answer
    } catch (error) {
      await stop()
      if (patient.aborted) return { failures: request.tests.map((file) => ({ file, names: [] })), durations: {} }
      throw error
    }
  }
  return { run, stop }
}

/** The nearest tests notice most changes; all the others are asked about the few that these let pass. */
export type Circle = 'near' | 'far'

const testsIn: Readonly<Record<Circle, (tests: readonly string[]) => readonly string[]>> = {
  near: (tests) => tests.slice(0, 10),
  far: (tests) => tests.slice(10),
}

/** Those that were not run yet, in milliseconds: rules are tested quickly, the contract takes its time. */
const durationGuessed = (test: string): number => (test.startsWith('test/unit/') ? 500 : 3_000)

/** The quick ones first, a few at a time. */
const inGroups = (tests: readonly string[]) => [
  tests.slice(0, 3),
  tests.slice(3, 7),
  tests.slice(7, 20),
  tests.slice(20),
]

/**
 * Finds out which test notices a change, in a copy of the tree that is changed for the time. A test is believed when it
 * fails twice, by itself the second time, and not without the change: the machine may be busy, and something may have
 * taken too long.
 */
export const createWitnesses = (copy: string, nearestTests: (file: string) => readonly string[]) => {
  const { run: runTests, stop } = createRunner(copy)
  const durations = new Map<string, number>()
  /** Tests that pass without a change. */
  const sound = new Set<string>()
  /** Tests that have noticed something in a file are asked first about the next change of it. */
  const proven = new Map<string, readonly string[]>()

  const run = async (changed: string, tests: readonly string[]): Promise<readonly TestFailure[]> => {
    const answer = await runTests({ changed, tests })
    for (const [test, duration] of Object.entries(answer.durations)) durations.set(test, duration)
    return answer.failures
  }

  /**
   * What of a test file fails without a change: on a busy machine, a test may, whose file has others that are believed.
   */
  const failureWithout = async (changed: string, test: string): Promise<TestFailure | undefined> => {
    if (sound.has(test)) return undefined
    const [failure] = await run(changed, [test])
    if (failure) console.log(`Without a change: ${test} ${failure.names.join(', ')}`)
    else sound.add(test)
    return failure
  }

  const durationOf = (test: string) => durations.get(test) ?? durationGuessed(test)
  const quickFirst = (tests: readonly string[]) => tests.toSorted((a, b) => durationOf(a) - durationOf(b))

  const runChanged = async ({ file, source }: SourceChange, tests: readonly string[]) => {
    const path = join(copy, file)
    const original = readFileSync(path, 'utf8')
    writeFileSync(path, source)
    const failures = await run(file, tests)
    writeFileSync(path, original)
    return failures
  }

  const isBelieved = async (change: SourceChange, test: string): Promise<boolean> => {
    const [failure] = await runChanged(change, [test])
    if (!failure) return false
    const without = await failureWithout(change.file, test)
    return !without || failure.names.some((name) => !without.names.includes(name))
  }

  /** One that failed may not be believed, and the others have been given up then: they are asked again. */
  const findAmong = async (change: SourceChange, tests: readonly string[]): Promise<string | undefined> => {
    const failed = tests.length > 0 ? (await runChanged(change, tests)).map(({ file }) => file) : []
    for (const test of failed) if (await isBelieved(change, test)) return test
    const others = tests.filter((test) => !failed.includes(test))
    return failed.length > 0 ? findAmong(change, others) : undefined
  }

  return {
    stop,
    /** The test that notices a change, in a circle of the tests. Undefined when none does. */
    async find(change: SourceChange, circle: Circle): Promise<string | undefined> {
      const first = proven.get(change.file) ?? []
      const groups = inGroups(quickFirst(testsIn[circle](nearestTests(change.file))))
      for (const group of circle === 'near' ? [first.slice(0, 2), ...groups] : groups) {
        const witness = await findAmong(change, group)
        if (!witness) continue
        proven.set(change.file, [witness, ...first.filter((test) => test !== witness)])
        return witness
      }
      return undefined
    },
  }
}
