import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Command } from 'commander'
import { transformSync } from 'esbuild'
import fc from 'fast-check'
import { createNearestTests } from '../nearest-tests.ts'
import { type Change, findChanges } from './changes.ts'
import { copy, runTests } from './run-tests.ts'
import { openTypes } from './types.ts'

/** Checks that types or tests notice single changes. A seed selects the same ones, equally many of each kind. */
const flags = new Command('npm run mutate --')
  .option('--count <number>', 'the number of changes', Number, 200)
  .option('--seed <number>', 'selects the changes', Number, 12)
  .option('--in <folder>', 'changes only files of this folder', '')
  .parse()
  .opts<Readonly<{ count: number; seed: number; in: string }>>()

/** Examples of the document, and entries that run only on Lambda. */
const leftOut = /\/(contract(-\w+)?|docs|(\w+-)?handler|register-data-centre)\.ts$/

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
const sources = files.filter((file) => /^(lib|functions)\/.*\.ts$/.test(file) && !leftOut.test(file))
const { changes: possible, instrumented } = await findChanges(sources.filter((file) => file.startsWith(flags.in)))

const kinds = [...Map.groupBy(possible, ({ kind }) => kind).values()].map((kind) =>
  fc.sample(fc.shuffledSubarray(kind, { minLength: kind.length }), { seed: flags.seed, numRuns: 1 }).flat(),
)
const rounds = Array.from({ length: flags.count }, (_, round) => kinds.flatMap((kind) => kind[round] ?? []))
const changes = rounds.flat().slice(0, flags.count)

const changed = instrumented.filter(({ name }) => changes.some(({ file }) => file === name))
// Node cannot remove the types of every instrumented source.
for (const { name, content } of changed) writeFileSync(join(copy, name), transformSync(content, { loader: 'ts' }).code)

/** Runs all tests once without a change, and records which changed code each test file runs. */
const visitsFile = join(copy, 'visits')
const recording = { NODE_OPTIONS: `--import=${import.meta.resolve('./record-visits.ts')}`, VISITS: visitsFile }
const { results } = await runTests([], '', recording)
const visits = new Set(readFileSync(visitsFile, 'utf8').split('\n'))
const passing = results.filter(({ passed }) => passed)
for (const { test } of results.filter(({ passed }) => !passed)) console.log(`${test} fails without a change`)
const nearestTests = createNearestTests('.', files, (file) => passing.some(({ test }) => test === file))

/** Returns the tests that can notice a change. First are those that run most code of its file, and of all that name it. */
const testsFor = ({ id, file, name }: Change): readonly string[] => {
  const near = nearestTests(file)
  const uses = possible.filter(({ source }) => new RegExp(`\\b${name}\\b`).test(source))
  const share = (test: string) => uses.filter((use) => visits.has(`${use.id} ${test}`)).length / uses.length
  const rank = ({ test, milliseconds }: (typeof passing)[number]) =>
    [...near, test].indexOf(test) * (1 - share(test)) + milliseconds / 1_000
  const ranked = passing.toSorted((one, other) => rank(one) - rank(other)).map(({ test }) => test)
  const visitors = ranked.filter((test) => visits.has(`${id} ${test}`))
  // Nobody knows which tests use what ran while a module loaded, or in a process that a test started.
  return visits.has(`${id} `) ? [...new Set([...visitors, ...ranked])].slice(0, 24) : visitors.slice(0, 24)
}

const refusedByTypes = openTypes(process.cwd())
const withoutChange: Record<string, ReturnType<typeof runTests>> = {}

/** Returns the test that fails with a change and passes without it. */
const findWitness = async (change: string, tests: readonly string[], together = 4): Promise<string | undefined> => {
  if (tests.length === 0) return undefined
  // A failure ends the process, and the first tests are the likeliest to fail.
  const { passed, results } = await runTests(tests.slice(0, together), change)
  if (passed) return findWitness(change, tests.slice(together), 2 * together)
  const failed = results.find((result) => !result.passed)?.test ?? String(tests[0])
  withoutChange[failed] ??= runTests([failed])
  if ((await withoutChange[failed]).passed) return failed
  const others = tests.filter((test) => test !== failed)
  return findWitness(change, others, together)
}

const survives = async (change: Change): Promise<boolean> => {
  const witness = refusedByTypes(change) ? 'the types' : await findWitness(change.id, testsFor(change))
  console.log(`${change.label}  ${witness ?? 'NOT NOTICED'}`)
  return witness === undefined
}

const survivors = await Readable.from(changes).filter(survives, { concurrency: availableParallelism() }).toArray()
console.log(`${changes.length - survivors.length} of ${changes.length} noticed`)
