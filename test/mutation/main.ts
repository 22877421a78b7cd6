import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { changesOf, type SourceChange } from './changes.ts'
import { runTests, type TestFile } from './run-tests.ts'
import { chooseLongTests, chooseTests } from './visits.ts'

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
const [quickTests, longTests] = [await chooseTests(files, changes), chooseLongTests(files)]
const preload = pathToFileURL(join(import.meta.dirname, 'change-source.ts')).href

const passedBefore = new Set<string>()

/** True if the test fails again alone, and passes without the change. */
const isWitness = async (one: TestFile, changed: Readonly<Record<string, string>>): Promise<boolean> => {
  if (!(await runTests({ tests: [one] }, changed))) return false
  const name = `${one.project} ${one.test}`
  if (!passedBefore.has(name) && !(await runTests({ tests: [one] }))) passedBefore.add(name)
  return passedBefore.has(name)
}

/** Returns the test that notices a change. */
const findWitness = async (number: number, { file, source }: SourceChange): Promise<string | undefined> => {
  const url = pathToFileURL(join(root, file)).href
  const changed = { NODE_OPTIONS: `--import=${preload}`, CHANGED_FILE: url, CHANGED_SOURCE: source }
  const quick: readonly TestFile[] = quickTests(number)
  let tests = quick.length > 0 ? quick : longTests(file)
  while (tests.length > 0) {
    const failed = await runTests({ tests }, changed)
    if (!failed) return undefined
    if (await isWitness(failed, changed)) return failed.test
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
    console.log(`${number + 1}/${changes.length}  ${change.label}  ${witness ?? 'NOT NOTICED'}`)
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
const noticed = changes.length - survivors
console.log(`${noticed} of ${changes.length} noticed: ${((100 * noticed) / changes.length).toFixed(1)} %`)
