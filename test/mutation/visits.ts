import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNearestTests, isLong } from '../nearest-tests.ts'
import type { SourceChange } from './changes.ts'
import { runTests, type TestFile } from './run-tests.ts'

export type Place = Pick<SourceChange, 'file' | 'offset'>

/** The places that a test file runs, by their numbers. */
export interface Visit extends TestFile {
  readonly milliseconds: number
  readonly passed: boolean
  /** The places that its cases run. */
  readonly ran: readonly number[]
  /** The places that run while the file is imported. Later files in the same process import the same modules. */
  readonly atImport: readonly number[]
  /** The places in functions of its modules that do not run. */
  readonly idle: readonly number[]
}

/** The projects, quick ones first, with the folders of their tests. */
const projects = { unit: 'unit', contract: 'contract', acceptance: 'acceptance', 'acceptance-aws': 'acceptance' }

const isTest = (file: string) => /^test\/(unit|contract|acceptance)\/.*\.test\.ts$/.test(file)

/** Only `npm run test:long` and the project of a new kind of object run the other tests. */
const isQuick = (file: string) => isTest(file) && !isLong(file) && !file.endsWith('/new-kind.test.ts')

/** Runs each test once without a change. */
const recordVisits = async (files: readonly string[], places: readonly Place[]): Promise<readonly Visit[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-visits-'))
  const [placesFile, visitsFile] = [join(folder, 'places.json'), join(folder, 'visits.jsonl')]
  const tests = Object.entries(projects).flatMap(([project, name]) =>
    files.filter((file) => file.startsWith(`test/${name}/`) && isQuick(file)).map((test) => ({ project, test })),
  )
  // V8 records compiled modules less precisely.
  const environment = { PLACES: placesFile, VISITS: visitsFile, NODE_DISABLE_COMPILE_CACHE: '1' }
  try {
    writeFileSync(placesFile, JSON.stringify(places))
    await runTests({ tests, isRecording: true }, environment)
    const lines = readFileSync(visitsFile, 'utf8').trim().split('\n')
    const visits = lines.map((line): Visit => JSON.parse(line))
    for (const { project, test, passed } of visits)
      if (!passed) console.log(`${test} (${project}) fails without a change`)
    return visits.filter(({ passed }) => passed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const timeOf = (visits: readonly Visit[]): number => visits.reduce((sum, { milliseconds }) => sum + milliseconds, 0)

/**
 * Records which tests visit which places. The result returns the tests that can notice a change at a place: those whose
 * cases run it, near and quick ones first. Code that runs only at an import can have an effect on every test that
 * imports it. A change is shown to at most a quarter of all tests, measured by their time.
 */
export const chooseTests = async (files: readonly string[], places: readonly Place[]) => {
  const visits = await recordVisits(files, places)
  const mostTime = timeOf(visits) / 4
  const meanTime = timeOf(visits) / visits.length
  const nearestTests = createNearestTests('.', files, isQuick)
  return (number: number): readonly Visit[] => {
    const near = nearestTests(places[number]?.file ?? '')
    const rank = ({ test, milliseconds }: Visit) =>
      (near.includes(test) ? near.indexOf(test) : near.length) + (3 * milliseconds) / meanTime
    const [running, others] = [
      visits.filter(({ ran }) => ran.includes(number)),
      visits.filter(({ ran, test }) => !ran.includes(number) && near.includes(test)),
    ]
    const isKnown = visits.some(({ ran, idle }) => ran.includes(number) || idle.includes(number))
    const isShared = !isKnown || visits.some(({ atImport }) => atImport.includes(number))
    const ranked = [running, isShared ? others : []].flatMap((some) => some.toSorted((a, b) => rank(a) - rank(b)))
    const chosen: Visit[] = []
    for (const one of ranked) if (timeOf(chosen) + one.milliseconds <= mostTime) chosen.push(one)
    const order = Object.keys(projects)
    return chosen.toSorted((a, b) => order.indexOf(a.project) - order.indexOf(b.project))
  }
}

/** The two long test files that are nearest to a file, for changes that no quick test runs. */
export const chooseLongTests = (files: readonly string[]) => {
  const isAsked = (file: string) => isTest(file) && isLong(file) && !/\/(packaging|kill-)/.test(file)
  const nearestTests = createNearestTests('.', files, isAsked)
  return (file: string): readonly TestFile[] =>
    nearestTests(file)
      .slice(0, 2)
      .map((test) => ({ project: 'long', test }))
}
