import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import type { JsonTestResults } from 'vitest/node'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Tests that run other source, or need a browser, packages, many minutes, the original source or a limit of open files. */
const leftOut = [
  '--project=!cdk',
  '--project=!console',
  '--exclude=test/{{cdk,client,contract/documentation}/thorough,console,contract/packaging,power-cuts}/**',
  '--exclude=**/{file-handles,in-a-browser,kill-*,nearest-tests,package,reference,rooms}.test.ts',
]

/** A copy of the files, whose source can be replaced. */
export const copy = mkdtempSync(join(temporaryFolder(), 'site-admin-mutation-'))
process.once('exit', () => rmSync(copy, { recursive: true }))
process.once('SIGINT', () => process.exit(130))
cpSync('.', copy, { recursive: true, filter: (path) => !['node_modules', '.git'].includes(basename(path)) })
symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))

/** Runs test files of the copy until one fails, or all tests if none are named. */
export const runTests = async (tests: readonly string[], change = '', environment = {}) => {
  const report = join(copy, randomUUID())
  // A change often makes a case wait forever, so the time limit is shorter than usual. Recording makes all cases slow.
  const some =
    tests.length > 0 ? ['--bail=1', '--maxWorkers=1', '--testTimeout=10000', ...tests] : ['--testTimeout=60000']
  const options = [...leftOut, '--reporter=json', `--outputFile=${report}`, ...some]
  const env = { ...process.env, ...environment, __STRYKER_ACTIVE_MUTANT__: change }
  const running = spawn('vitest', ['run', ...options], { cwd: copy, detached: true, stdio: 'ignore', env })
  const timer = setTimeout(() => process.kill(-Number(running.pid), 'SIGKILL'), tests.length > 0 ? 90_000 : 1_800_000)
  const [status] = await once(running, 'exit')
  clearTimeout(timer)
  const json = existsSync(report) ? readFileSync(report, 'utf8') : '{"testResults":[]}'
  const { testResults }: JsonTestResults = JSON.parse(json)
  const results = testResults.map(({ name, status, startTime, endTime }) => ({
    test: relative(copy, name),
    passed: status === 'passed',
    milliseconds: endTime - startTime,
  }))
  return { passed: status === 0, results }
}
