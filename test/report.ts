import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { JsonTestResults } from 'vitest/node'

const mostLines = 8

const reasonOf = (text: string): readonly string[] => {
  const lines = stripVTControlCharacters(text).trim().split('\n')
  return lines.filter((line) => !/node_modules|<anonymous>/.test(line)).slice(0, mostLines)
}

/** The failed cases of a file, each once. If the file failed without a failed case, the file itself. */
const failuresOf = ({ name, message, status, assertionResults }: JsonTestResults['testResults'][number]) => {
  const file = relative('', name)
  const cases = assertionResults.filter((result) => result.status === 'failed')
  if (cases.length === 0 && status === 'failed') return [{ name: file, reason: reasonOf(message) }]
  return cases.map(({ fullName, failureMessages }) => ({
    name: `${file} > ${fullName}`,
    reason: reasonOf(failureMessages?.[0] ?? ''),
  }))
}

/**
 * `npm run report -- FILE…` summarises reports of the test runner: a line for each failed test, the first lines of its
 * reason, and at the end `N passed, N failed`. A file that could not run counts as one failure.
 */
const files = process.argv.slice(2)
const reports = files.map((file): JsonTestResults => JSON.parse(readFileSync(file, 'utf8')))
const failures = reports.flatMap(({ testResults }, index) =>
  testResults.flatMap(failuresOf).map((failure) => ({ ...failure, report: files[index] })),
)
for (const { name, reason, report } of failures) console.log([`FAILED (${report}): ${name}`, ...reason].join('\n    '))
const passed = reports.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0)
console.log(`${passed} passed, ${failures.length} failed`)
