import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { createNearestTests, isLong } from '../nearest-tests.ts'
import { changesOf, type SourceChange } from './changes.ts'

/**
 * Checks that tests notice faults: makes single changes to the source, each in a copy of the tree, and runs the tests
 * nearest to the file. A seed selects the same changes every time, equally many of each kind.
 */
const text = (otherwise: string) => ({ type: 'string', default: otherwise }) as const
const { values: flags } = parseArgs({ options: { count: text('200'), seed: text('12'), in: text('') } })

const root = join(import.meta.dirname, '..', '..')

/** Examples of the document, and entries that run only on Lambda. */
const leftOut = /\/(contract(-\w+)?|docs|(\w+-)?handler|register-data-centre)\.ts$/

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
const sources = files.filter((file) => /^(lib|functions)\/.*\.ts$/.test(file) && !leftOut.test(file))

const sample = (count: number, seed: number): readonly SourceChange[] => {
  const chosen = sources.filter((file) => file.startsWith(flags.in))
  const all = chosen.flatMap((file) => changesOf(file, readFileSync(join(root, file), 'utf8')))
  const kinds = [...Map.groupBy(all, ({ kind }) => kind).values()]
  const shuffled = kinds.map((kind) => fc.shuffledSubarray(kind, { minLength: kind.length }))
  const [queues = []] = fc.sample(fc.tuple(...shuffled), { seed, numRuns: 1 })
  const rounds = Array.from({ length: count }, (_, round) => queues.flatMap((queue) => queue[round] ?? []))
  return rounds.flat().slice(0, count)
}

const copyTree = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'site-admin-changed-'))
  cpSync(root, copy, { recursive: true, filter: (path) => !/\/(node_modules|\.git|\.local|reports)$/.test(path) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

const runner = join(root, 'node_modules/vitest/vitest.mjs')
/** In milliseconds. A change that makes tests run forever counts as noticed. */
const patience = 120_000

/** Runs these test files on the stores that use the changed file. Returns the first one that fails. */
const findFailure = async (copy: string, changed: string, tests: readonly string[]): Promise<string | undefined> => {
  const report = join(copy, 'report.json')
  const unused = { aws: 'acceptance', machine: 'acceptance-aws' }[changed.split('/')[1] ?? ''] ?? 'none'
  const options = ['--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`, `--project=!${unused}`]
  const settings = { cwd: copy, detached: true, stdio: 'ignore' } as const
  const running = spawn(process.execPath, [runner, 'run', ...options, ...tests], settings)
  const timer = setTimeout(() => process.kill(-Number(running.pid), 'SIGKILL'), patience)
  const [status, signal] = await once(running, 'exit')
  clearTimeout(timer)
  if (status === 0) return undefined
  if (signal !== null) return tests[0]
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const failed = testResults.find((result: { status: string }) => result.status === 'failed')
  return failed ? relative(copy, failed.name) : tests[0]
}

/**
 * Tests that run together. The nearest tests come first, because they notice most changes. Files of the stores have
 * other names than the tests of their ports, so all these tests come last.
 */
const inSteps = (file: string, tests: readonly string[]): readonly (readonly string[])[] => {
  const kinds = Object.groupBy(tests, (test) => /^test.(unit|acceptance)?/.exec(test)?.[1] ?? 'contract')
  const { unit = [], contract = [], acceptance = [] } = kinds
  const [long, short] = [contract.filter(isLong), contract.filter((test) => !isLong(test))]
  const ports = /^lib.(aws|machine)/.test(file) ? short.filter((test) => test.includes('/ports/')) : []
  return [
    unit.slice(0, 4),
    [...acceptance.slice(0, 3), ...short.slice(0, 3)],
    [...unit.slice(4, 12), ...acceptance.slice(3, 8), ...short.slice(3, 8)],
    [...acceptance.slice(8, 20), ...short.slice(8, 20), ...ports, ...long.slice(0, 2)],
  ]
}

const passedBefore = new Set<string>()

/** Returns the test that notices a change: it fails twice, the second time alone, and passes without the change. */
const findWitness = async (copy: string, { file, source }: SourceChange): Promise<string | undefined> => {
  const original = readFileSync(join(copy, file))
  const ask = async (tests: readonly string[]): Promise<string | undefined> => {
    if (tests.length === 0) return undefined
    writeFileSync(join(copy, file), source)
    const failed = await findFailure(copy, file, tests)
    const again = failed && (await findFailure(copy, file, [failed]))
    writeFileSync(join(copy, file), original)
    if (!failed) return undefined
    if (again && !passedBefore.has(failed) && !(await findFailure(copy, file, [failed]))) passedBefore.add(failed)
    return again && passedBefore.has(failed) ? failed : ask(tests.filter((test) => test !== failed))
  }
  for (const step of inSteps(file, nearestTests(file))) {
    const witness = await ask(step)
    if (witness) return witness
  }
  return undefined
}

const changes = sample(Number(flags.count), Number(flags.seed))
const asked = /^test\/(unit|contract|acceptance)\/.*\.test\.ts$/
const nearestTests = createNearestTests(root, files, (test) => asked.test(test))
let survivors = 0
const waiting = changes.entries()

/** Works through the changes, in parallel with other workers. */
const work = async () => {
  const copy = copyTree()
  try {
    for (const [index, change] of waiting) {
      const witness = await findWitness(copy, change)
      if (!witness) survivors += 1
      console.log(`${index + 1}/${changes.length}  ${change.label}  ${witness ?? 'NOT NOTICED'}`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
const noticed = changes.length - survivors
console.log(`${noticed} of ${changes.length} noticed: ${((100 * noticed) / changes.length).toFixed(1)} %`)
