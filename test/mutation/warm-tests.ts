import { createVitest, type TestModule } from 'vitest/node'

/** What this process is asked for: to run tests after a file has changed, and to stop at the first failure. */
export interface TestRequest {
  /** A path from the root, as those of the tests. */
  readonly changed: string
  readonly tests: readonly string[]
}

export interface TestFailure {
  readonly file: string
  /** The tests of the file that failed; none where it failed as a whole. */
  readonly names: readonly string[]
}

export interface TestAnswer {
  /** What failed before everything else was given up. */
  readonly failures: readonly TestFailure[]
  /** How long those took that have passed so far, in milliseconds. */
  readonly durations: Readonly<Record<string, number>>
}

/**
 * The tests of a tree, in a process that has read them before: Vitest keeps what it has made of each file, so that a
 * change costs no more than the tests that it needs. Whoever started this process can end it, should a change let it
 * run for ever.
 */
const [root = process.cwd()] = process.argv.slice(2)
const failures: TestFailure[] = []
const durations: Record<string, number> = {}
const onTestModuleEnd = (module: TestModule) => {
  const file = module.moduleId.slice(root.length + 1)
  if (module.state() !== 'failed') durations[file] = module.diagnostic().duration
  else failures.push({ file, names: [...module.children.allTests('failed')].map(({ fullName }) => fullName) })
}
const vitest = await createVitest({
  root,
  watch: false,
  bail: 1,
  // What many tests import, the SDK of AWS above all, is read once. A failure counts only when it comes again in a test
  // file by itself.
  isolate: false,
  project: ['unit', 'contract', 'new-kind'],
  reporters: [{ onTestModuleEnd }],
})
await vitest.standalone()
const specifications = Map.groupBy(await vitest.globTestSpecifications(), ({ moduleId }) =>
  moduleId.slice(root.length + 1),
)

/** What was changed for the last request, and has been put back since. */
let restored: string | undefined

const run = async ({ changed, tests }: TestRequest): Promise<TestAnswer> => {
  failures.length = 0
  for (const file of new Set([restored ?? changed, changed])) vitest.invalidateFile(`${root}/${file}`)
  restored = changed
  const { unhandledErrors } = await vitest.runTestSpecifications(
    tests.flatMap((test) => specifications.get(test) ?? []),
  )
  const isOutside = unhandledErrors.length > 0 && failures.length === 0
  return { failures: isOutside ? tests.map((file) => ({ file, names: [] })) : failures, durations }
}

process.on('message', async (request: TestRequest) => {
  process.send?.(await run(request))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
