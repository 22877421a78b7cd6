import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { WorkerGlobalState } from 'vitest'

// Every process that starts with this module appends lines to a file: a change, and a test file that ran its code.
const recorded = new Set<string>()

const recordVisit = (_: object, change: string | symbol) => {
  const { current, filepath = '' } = (globalThis as { __vitest_worker__?: WorkerGlobalState }).__vitest_worker__ ?? {}
  // Code that runs while modules load serves all test files of the process, and not only the first.
  const line = `${String(change)} ${current?.result ? relative('', filepath) : ''}\n`
  if (!recorded.has(line)) appendFileSync(String(process.env['VISITS']), line)
  recorded.add(line)
  return true
}

/** An instrumented source adds one to the count of a change when it comes to the code there. */
Object.assign(globalThis, { __stryker__: { mutantCoverage: { static: new Proxy({}, { set: recordVisit }) } } })
