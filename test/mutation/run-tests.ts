import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JsonTestResults } from 'vitest/node'

export interface Result {
  readonly test: string
  readonly passed: boolean
  readonly milliseconds: number
}

const projects = ['unit', 'contract', 'client', 'acceptance', 'acceptance-aws', 'long']

/** Tests that need a browser, packages or many minutes. */
const leftOut = [
  'test/{{cdk,client,contract/documentation}/thorough,console,contract/packaging,power-cuts}/**',
  '**/{in-a-browser,kill-*,package,reference}.test.ts',
]
const selection = [...projects.map((name) => `--project=${name}`), ...leftOut.map((pattern) => `--exclude=${pattern}`)]

const folder = mkdtempSync(join(tmpdir(), 'site-admin-mutation-'))
process.once('exit', () => rmSync(folder, { recursive: true }))

/** Test processes append to this file which code they run. */
export const visitsFile = join(folder, 'visits.jsonl')

const minute = 60_000
const preload = pathToFileURL(join(import.meta.dirname, 'change-source.ts')).href

/** Runs test files until one fails, or all tests if none are named. `sources` replaces the source of some files. */
export const runTests = async (tests: readonly string[], sources: ReadonlyMap<string, string> = new Map()) => {
  const [sourcesFile, resultsFile] = [join(folder, randomUUID()), join(folder, randomUUID())]
  writeFileSync(sourcesFile, JSON.stringify([...sources].map(([file, source]) => [pathToFileURL(file).href, source])))
  // A change often makes a case wait forever, so the time limit is shorter than usual.
  const options = tests.length > 0 ? ['--bail=1', '--maxWorkers=1', '--testTimeout=10000', ...tests] : []
  const reporting = ['--reporter=json', `--outputFile=${resultsFile}`]
  const running = spawn('vitest', ['run', ...selection, ...reporting, ...options], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, NODE_OPTIONS: `--import=${preload}`, SOURCES: sourcesFile, VISITS: visitsFile },
  })
  const patience = tests.length > 0 ? 1.5 * minute : 30 * minute
  const timer = setTimeout(() => process.kill(-Number(running.pid), 'SIGKILL'), patience)
  const [status] = await once(running, 'exit')
  clearTimeout(timer)
  const report: Pick<JsonTestResults, 'testResults'> = existsSync(resultsFile)
    ? JSON.parse(readFileSync(resultsFile, 'utf8'))
    : { testResults: [] }
  const results = report.testResults.map(
    (file): Result => ({
      test: relative('', file.name),
      passed: file.status === 'passed',
      milliseconds: file.endTime - file.startTime,
    }),
  )
  return { passed: status === 0, results }
}
