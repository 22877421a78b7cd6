import { createVitest, type TestModule } from 'vitest/node'

/** What this process is asked for: to run tests after a file has changed, and to stop at the first failure. */
export interface TestRequest {
  /** A path from the root, as those of the tests. */
  readonly changed: string
  readonly tests: readonly string[]
}

/**
 * The tests of a tree, in a process that has read them before: Vitest keeps what it has made of each file, so that a change costs no
 * more than the tests that it needs. Whoever started this process can end it, should a change let it run for ever.
 */
const [root = process.cwd()] = process.argv.slice(2)
const failed = new Set<string>()
const onTestModuleEnd = (module: TestModule) => {
  if (module.state() === 'failed') failed.add(module.moduleId.slice(root.length + 1))
}
const vitest = await createVitest({
  root,
  watch: false,
  bail: 1,
  // What many tests import, the SDK of AWS above all, is read once. A failure counts only when it comes again in a test file by itself.
  isolate: false,
  project: ['unit', 'contract'],
  reporters: [{ onTestModuleEnd }],
})
await vitest.standalone()
const specifications = Map.groupBy(await vitest.globTestSpecifications(), ({ moduleId }) =>
  moduleId.slice(root.length + 1),
)

/** The test files that failed before the others were given up. */
const run = async ({ changed, tests }: TestRequest): Promise<readonly string[]> => {
  failed.clear()
  vitest.invalidateFile(`${root}/${changed}`)
  const { unhandledErrors } = await vitest.runTestSpecifications(
    tests.flatMap((test) => specifications.get(test) ?? []),
  )
  return failed.size === 0 && unhandledErrors.length > 0 ? tests : [...failed]
}

process.on('message', async (request: TestRequest) => {
  process.send?.(await run(request))
})
process.on('disconnect', () => process.exit())
process.send?.([])
