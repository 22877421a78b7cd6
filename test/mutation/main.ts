import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import type { SourceChange } from './changes.ts'
import { chooseTests } from './choose-tests.ts'
import { runTests } from './run-tests.ts'
import { openTypes } from './types.ts'

/**
 * Checks that the types or the tests notice faults: makes single changes to the source, and runs the tests that run the
 * changed code. A seed selects the same changes every time, equally many of each kind. The files stay as they are: the
 * test processes read the changed source instead of one of them.
 */
const text = (otherwise: string) => ({ type: 'string', default: otherwise }) as const
const { values: flags } = parseArgs({ options: { count: text('200'), seed: text('12'), in: text('') } })

const root = join(import.meta.dirname, '..', '..')
process.chdir(root)

/** Examples of the document, and entries that run only on Lambda. */
const leftOut = /\/(contract(-\w+)?|docs|(\w+-)?handler|register-data-centre)\.ts$/

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
const sources = files.filter((file) => /^(lib|functions)\/.*\.ts$/.test(file) && !leftOut.test(file))

const sample = (all: readonly SourceChange[], count: number, seed: number): readonly SourceChange[] => {
  const kinds = [...Map.groupBy(all, ({ kind }) => kind).values()]
  const shuffled = kinds.map((kind) => fc.shuffledSubarray(kind, { minLength: kind.length }))
  const [queues = []] = fc.sample(fc.tuple(...shuffled), { seed, numRuns: 1 })
  const rounds = Array.from({ length: count }, (_, round) => queues.flatMap((queue) => queue[round] ?? []))
  return rounds.flat().slice(0, count)
}

const types = openTypes(root)
const possible = sources.filter((file) => file.startsWith(flags.in)).flatMap((file) => types.changesOf(file))
const changes = sample(possible, Number(flags.count), Number(flags.seed))
const refused = changes.filter((change) => types.refuse(change))
types.close()
for (const { label } of refused) console.log(`${label}  refused by the types`)

const others = changes.filter((change) => !refused.includes(change))
const testsOf = await chooseTests(files, others)

/** Test files of one process. A failure ends the process, and the first files are the likeliest to fail. */
const atOnce = 4

const passedAlone = new Set<string>()

/** True if the test fails again alone, and passes without the change. */
const isWitness = async (test: string, changed: ReadonlyMap<string, string>): Promise<boolean> => {
  if ((await runTests([test], changed)).passed) return false
  if (!passedAlone.has(test) && (await runTests([test])).passed) passedAlone.add(test)
  return passedAlone.has(test)
}

/** Returns the test that notices a change. */
const findWitness = async ({ file, source }: SourceChange, tests: readonly string[]): Promise<string | undefined> => {
  const changed = new Map([[file, source]])
  let asked = tests
  while (asked.length > 0) {
    const batch = asked.slice(0, atOnce)
    const { passed, results } = await runTests(batch, changed)
    const failed = passed ? undefined : (results.find((result) => !result.passed)?.test ?? batch[0])
    if (failed !== undefined && (await isWitness(failed, changed))) return failed
    asked = asked.filter((test) => (failed === undefined ? !batch.includes(test) : test !== failed))
  }
  return undefined
}

let survivors = 0
const waiting = others.entries()

/** Works through the changes, in parallel with other workers. */
const work = async () => {
  for (const [number, change] of waiting) {
    const witness = await findWitness(change, testsOf[number] ?? [])
    if (!witness) survivors += 1
    console.log(`${number + 1}/${others.length}  ${change.label}  ${witness ?? 'NOT NOTICED'}`)
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work))
const noticed = changes.length - survivors
const percent = ((100 * noticed) / changes.length).toFixed(1)
console.log(`${noticed} of ${changes.length} noticed: ${percent} %. The types noticed ${refused.length} of them.`)
