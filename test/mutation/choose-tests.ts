import { readFileSync } from 'node:fs'
import { createNearestTests } from '../nearest-tests.ts'
import { type SourceChange, withVisits } from './changes.ts'
import { type Result, runTests, visitsFile } from './run-tests.ts'

interface Visit {
  readonly test: string
  readonly number: number
  /** True if an import ran the code, which later files in the same process share. */
  readonly isImport: boolean
}

const countingVisits = (changes: readonly SourceChange[]) => {
  const numbered = changes.map((change, number) => ({ ...change, number }))
  const byFile = [...Map.groupBy(numbered, ({ file }) => file)]
  return new Map(byFile.map(([file, here]) => [file, withVisits(readFileSync(file, 'utf8'), here)]))
}

const timeOf = (tests: readonly Result[]): number => tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0)

/** Runs all tests once without a change, and records which changed code each test file runs. */
const record = async (changes: readonly SourceChange[]) => {
  const { results } = await runTests([], countingVisits(changes))
  // The acceptance tests run on two kinds of stores.
  const tests = [...Map.groupBy(results, ({ test }) => test)].map(
    ([test, runs]): Result => ({ test, passed: runs.every(({ passed }) => passed), milliseconds: timeOf(runs) }),
  )
  for (const { test, passed } of tests) if (!passed) console.log(`${test} fails without a change`)
  const visits = readFileSync(visitsFile, 'utf8')
    .trim()
    .split('\n')
    .map((line): Visit => JSON.parse(line))
  return { tests: tests.filter(({ passed }) => passed), visits }
}

/**
 * Returns for each change the test files that can notice it: those whose cases run the changed code, near and quick
 * ones first. If none does, or if an import runs the code, also the files that are near. A change is shown to at most a
 * quarter of all tests, measured by their time.
 */
export const chooseTests = async (files: readonly string[], changes: readonly SourceChange[]) => {
  const { tests, visits } = await record(changes)
  const meanTime = timeOf(tests) / tests.length
  const nearestTests = createNearestTests('.', files, (file) => tests.some(({ test }) => test === file))
  return changes.map(({ file }, number): readonly string[] => {
    const near = nearestTests(file)
    const rank = ({ test, milliseconds }: Result) =>
      (near.includes(test) ? near.indexOf(test) : near.length) + (3 * milliseconds) / meanTime
    const here = visits.filter((visit) => visit.number === number)
    const running = here.filter(({ isImport }) => !isImport).map(({ test }) => test)
    const isShared = running.length === 0 || here.some(({ isImport }) => isImport)
    const others = isShared ? near.filter((test) => !running.includes(test)) : []
    const ranked = [running, others].flatMap((some) =>
      tests.filter(({ test }) => some.includes(test)).sort((one, other) => rank(one) - rank(other)),
    )
    let time = 0
    return ranked.flatMap(({ test, milliseconds }) => {
      time += milliseconds
      return time <= timeOf(tests) / 4 ? [test] : []
    })
  })
}
