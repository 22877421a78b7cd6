import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { changesOf, type SourceChange } from './changes.ts'
import { runTests } from './run-tests.ts'
import { chooseTests, timeOf } from './visits.ts'

/**
 * Checks that tests notice faults: makes single changes to the source, and runs the tests that run the changed code.
 * A seed selects the same changes every time, equally many of each kind. The files stay as they are: the test processes
 * read the changed source instead of one of them.
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

const changes = sample(Number(flags.count), Number(flags.seed))
const testsFor = await chooseTests(files, changes)
const preload = pathToFileURL(join(import.meta.dirname, 'change-source.ts')).href

/** Returns the test that notices a change. It fails twice, the second time alone, because a test may fail by chance. */
const findWitness = async (number: number, { file, source }: SourceChange): Promise<string | undefined> => {
  const changed = { CHANGED_FILE: pathToFileURL(join(root, file)).href, CHANGED_SOURCE: source }
  const environment = { ...changed, NODE_OPTIONS: `--import=${preload}` }
  let tests = testsFor(number)
  while (tests.length > 0) {
    // In milliseconds. A change that makes tests run forever counts as noticed.
    const patience = 60_000 + 3 * timeOf(tests)
    const failed = await runTests({ tests }, environment, patience)
    if (!failed) return undefined
    if (await runTests({ tests: [failed] }, environment, patience)) return failed.test
    tests = tests.filter(({ project, test }) => project !== failed.project || test !== failed.test)
  }
  return undefined
}

let survivors = 0
const waiting = changes.entries()

/** Works through the changes, in parallel with other workers. */
const work = async () => {
  for (const [number, change] of waiting) {
    const witness = await findWitness(number, change)
    if (!witness) survivors += 1
    const outcome = witness ?? `NOT NOTICED by ${testsFor(number).length} test files`
    console.log(`${number + 1}/${changes.length}  ${change.label}  ${outcome}`)
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
const noticed = changes.length - survivors
console.log(`${noticed} of ${changes.length} noticed: ${((100 * noticed) / changes.length).toFixed(1)} %`)
