import { execFileSync, spawnSync } from 'node:child_process'
import { createNearestTests } from './mutation/nearest-tests.ts'

// `npm run test:near`: the tests nearest to the files that have changed since the last commit. It is quick and no proof:
// `npm test` runs all that may be affected.

const most = 10

const linesOf = (...args: readonly string[]): string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)

const files = linesOf('ls-files', '--cached', '--others', '--exclude-standard')
const changed = [
  ...linesOf('diff', '--name-only', '--diff-filter=d', 'HEAD'),
  ...linesOf('ls-files', '--others', '--exclude-standard'),
].filter((file) => file.endsWith('.ts'))
const nearestTests = createNearestTests('.', files)
const each = Math.max(2, Math.floor(most / Math.max(1, changed.length)))
const tests = new Set(changed.flatMap((file) => nearestTests(file).slice(0, each)))
if (tests.size === 0) console.log('No test in test/unit or test/contract is near a change.')
else {
  const { status } = spawnSync('vitest', ['run', '--project', '!long', ...tests], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
