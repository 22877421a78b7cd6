import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The parts of a report of the test runner, in its format `json`, that are used here. */
interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly TestFile[]
}

interface TestFile {
  readonly name: string
  /** The reason why the whole file failed: the file could not be loaded, or a hook threw an error. */
  readonly message: string
  readonly status: string
  readonly assertionResults: readonly Case[]
}

interface Case {
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

interface Failure {
  readonly name: string
  readonly reason: string
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

/** The failed cases of a file, each once. If the file failed without a failed case, the file itself. */
const failuresOf = ({ name, message, status, assertionResults }: TestFile): Failure[] => {
  const file = relative('', name)
  const cases = assertionResults.filter((result) => result.status === 'failed')
  if (cases.length === 0 && status === 'failed') return [{ name: file, reason: firstLine(message) }]
  return cases.map(({ fullName, failureMessages: [first = ''] }) => ({
    name: `${file} > ${fullName}`,
    reason: firstLine(first),
  }))
}

/**
 * `npm run report -- FILE…` summarises reports of the test runner: a line for each failed test, a line for its reason,
 * and at the end `N passed, N failed`. A file that could not run counts as one failure.
 */
const files = process.argv.slice(2)
const reports = files.map((file): Report => JSON.parse(readFileSync(file, 'utf8')))
const failures = reports.flatMap(({ testResults }, index) =>
  testResults.flatMap(failuresOf).map((failure) => ({ ...failure, report: files[index] })),
)
for (const { name, reason, report } of failures) console.log(`FAILED (${report}): ${name}\n    ${reason}`)
const passed = reports.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0)
console.log(`${passed} passed, ${failures.length} failed`)
