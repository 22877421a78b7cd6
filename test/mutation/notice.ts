import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceChange } from './changes.ts'
import type { TestRequest } from './warm-tests.ts'

/** A change that makes tests run without end is noticed as well. What so many files may take on a busy machine, in milliseconds. */
const patience = (files: number) => 60_000 + files * 30_000

/** Runs tests of a tree. Answers the files that failed first: all of them, when they had to be ended. */
type RunTests = (request: TestRequest) => Promise<readonly string[]>

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
    if (!tests) {
      tests = fork(join(import.meta.dirname, 'warm-tests.ts'), [root], {
        cwd: root,
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      await once(tests, 'message')
    }
    const patient = AbortSignal.timeout(patience(request.tests.length))
    tests.send(request)
    try {
      const [failed]: readonly string[][] = await once(tests, 'message', { signal: patient })
      return failed ?? []
    } catch (error) {
      await stop()
      if (patient.aborted) return request.tests
      throw error
    }
  }
  return { run, stop }
}

/** The nearest tests notice most changes; all the others are asked about the few that these let pass. */
export type Circle = 'near' | 'far'

const groupsIn: Readonly<Record<Circle, (tests: readonly string[]) => readonly (readonly string[])[]>> = {
  near: (tests) => [tests.slice(0, 3), tests.slice(3, 10)],
  far: (tests) => [tests.slice(10, 20), tests.slice(20)],
}

/**
 * Finds out which test notices a change, in a copy of the tree that is changed for the time. A test is believed when it fails twice, by
 * itself the second time, and not without the change: the machine may be busy, and something may have taken too long.
 */
export const createWitnesses = (copy: string, nearestTests: (file: string) => readonly string[]) => {
  const { run, stop } = createRunner(copy)
  const soundness = new Map<string, boolean>()
  /** Tests that have noticed something in a file are asked first about the next change of it. */
  const proven = new Map<string, readonly string[]>()

  const isSound = async (changed: string, test: string): Promise<boolean> => {
    const known = soundness.get(test) ?? (await run({ changed, tests: [test] })).length === 0
    soundness.set(test, known)
    if (!known) console.log(`${test} fails by itself`)
    return known
  }

  const runChanged = async ({ file, source }: SourceChange, tests: readonly string[]) => {
    const path = join(copy, file)
    const original = readFileSync(path, 'utf8')
    writeFileSync(path, source)
    const failed = await run({ changed: file, tests })
    writeFileSync(path, original)
    return failed
  }

  /** The tests of a group one by one, as one that failed may not be believed, and the others have been given up then. */
  const findAmong = async (change: SourceChange, tests: readonly string[]): Promise<string | undefined> => {
    const failed = tests.length > 0 ? await runChanged(change, tests) : []
    for (const test of failed) {
      const isBelieved = (await runChanged(change, [test])).length > 0 && (await isSound(change.file, test))
      if (isBelieved) return test
    }
    return failed.length > 0
      ? findAmong(
          change,
          tests.filter((test) => !failed.includes(test)),
        )
      : undefined
  }

  return {
    stop,
    /** The test that notices a change, in a circle of the tests. Undefined when none does. */
    async find(change: SourceChange, circle: Circle): Promise<string | undefined> {
      const first = proven.get(change.file) ?? []
      const near = nearestTests(change.file)
      const groups = groupsIn[circle](near)
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
