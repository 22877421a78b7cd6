import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../support/directory.ts'

const passed = { fullName: 'a case that holds', status: 'passed', failureMessages: [] }
const failed = {
  fullName: 'removing a folder leaves nothing',
  status: 'failed',
  failureMessages: ['AssertionError: expected 503 to be 204\n    at delete.test.ts:12'],
}
const fileOf = (name: string, status: string, message: string, ...assertionResults: readonly object[]) => ({
  name: resolve('test', name),
  status,
  message,
  assertionResults,
})
const reports = [
  { numPassedTests: 2, testResults: [fileOf('whole.test.ts', 'passed', '', passed, passed)] },
  {
    numPassedTests: 1,
    testResults: [
      fileOf('delete.test.ts', 'failed', '', passed, failed),
      fileOf('broken.test.ts', 'failed', 'SyntaxError: a word too many\n    at 1:1'),
    ],
  },
]

test('the report lists each failed test with its reason, and ends with the numbers of passed and failed tests', () => {
  const folder = scratchDirectory()
  const files = reports.map((report, index) => {
    const file = join(folder, `${index}.json`)
    writeFileSync(file, JSON.stringify(report))
    return file
  })
  const lines = execFileSync(process.execPath, ['test/report.ts', ...files], { encoding: 'utf8' }).split('\n')
  expect(lines).toEqual([
    `FAILED (${files[1]}): test/delete.test.ts > removing a folder leaves nothing`,
    '    AssertionError: expected 503 to be 204',
    `FAILED (${files[1]}): test/broken.test.ts`,
    '    SyntaxError: a word too many',
    '3 passed, 2 failed',
    '',
  ])
})
