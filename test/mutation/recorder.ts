import { appendFileSync, readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RunnerTestFile, TestRunner } from 'vitest'
import type { Place, Visit } from './visits.ts'

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

const places: readonly Place[] = JSON.parse(readFileSync(String(process.env['PLACES']), 'utf8'))

/** True if the code at this offset ran. Undefined for code outside of functions, which runs only at the first import. */
const hasRun = (offset: number, functions: readonly Profiler.FunctionCoverage[]): boolean | undefined => {
  const around = functions.flatMap(({ ranges }) =>
    ranges
      .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
      .map((range) => ({ ...range, isModule: ranges[0]?.startOffset === 0 })),
  )
  const length = ({ startOffset, endOffset }: Profiler.CoverageRange) => endOffset - startOffset
  const [innermost] = around.sort((a, b) => length(a) - length(b))
  return innermost && !innermost.isModule ? innermost.count > 0 : undefined
}

/** The numbers of the places whose code ran since the last call, and of those whose code did not. */
const takeVisits = () => {
  const scripts = new Map<string, Profiler.FunctionCoverage[]>()
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const { url, functions } of result) scripts.set(url, functions)
  })
  const states = places.map(({ file, offset }) => hasRun(offset, scripts.get(pathToFileURL(file).href) ?? []))
  const numbersOf = (state: boolean) => states.flatMap((each, number) => (each === state ? [number] : []))
  return { ran: numbersOf(true), idle: numbersOf(false) }
}

/** Records for each test file which places its cases visit, and which places its imports visit. */
export default class Recorder extends TestRunner {
  #imports = { ran: [] as number[], idle: [] as number[] }

  onBeforeRunFiles(): void {
    this.#imports = takeVisits()
  }

  override async onAfterRunFiles(files: RunnerTestFile[]): Promise<void> {
    await super.onAfterRunFiles(files)
    const cases = takeVisits()
    for (const { filepath, projectName = '', result } of files) {
      const visit: Visit = {
        project: projectName,
        test: relative('', filepath),
        milliseconds: result?.duration ?? 0,
        passed: result?.state === 'pass',
        ran: cases.ran,
        atImport: this.#imports.ran,
        idle: [...cases.idle, ...this.#imports.idle],
      }
      appendFileSync(String(process.env['VISITS']), `${JSON.stringify(visit)}\n`)
    }
  }
}
