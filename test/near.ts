import { execFileSync, spawnSync } from 'node:child_process'
import { createNearestTests, isSource, isTest, scriptOf } from './nearest-tests.ts'

// `npm run test:near [FILE…]` runs the tests nearest to these files, or to the files that changed since the last
// commit. It is quick but proves little: `npm test` runs all tests that may be affected.

const most = 10

const linesOf = (...args: readonly string[]): string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)

const files = linesOf('ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate')
const named = process.argv.slice(2)
const changed = [
  ...linesOf('diff', '--name-only', '--diff-filter=d', 'HEAD'),
  ...linesOf('ls-files', '--others', '--exclude-standard'),
]
const nearestTests = createNearestTests('.', files, isTest)

const sources = (named.length > 0 ? named : changed).filter(isSource)
const each = Math.max(2, Math.floor(most / Math.max(1, sources.length)))
const tests = new Set<string>()
for (const file of sources) {
  const near = nearestTests(file)
  const quick = near.filter((test) => scriptOf(test) === 'test').slice(0, each)
  for (const test of quick) tests.add(test)
  const [first] = near
  if (first === undefined) console.log(`No test uses ${file}.`)
  else if (quick.length === 0) {
    console.log(`Only npm run ${scriptOf(first)} covers ${file}: ${near.slice(0, each).join(', ')}`)
  }
}
if (sources.length === 0) console.log('No source file has changed since the last commit.')
if (tests.size > 0) {
  const { status } = spawnSync('vitest', ['run', '--project', '!long', ...tests], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
