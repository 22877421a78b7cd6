import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { temporaryFolder } from './test/support/temporary-folder.ts'

process.env['TMPDIR'] ??= temporaryFolder()
// A worker that finds the SDK of AWS compiled starts a second earlier. Compiled code makes coverage less precise.
if (!process.argv.some((argument) => argument.startsWith('--coverage')))
  process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'node')

/**
 * Test files share the modules that they import, because reading the SDK of AWS again for each file takes minutes. One
 * file changes imported modules, so it has its own project. Node imports TypeScript itself, so nothing is
 * transformed.
 */
const shared = { isolate: false, restoreMocks: true, experimental: { viteModuleRunner: false, nodeLoader: false } }
const patiently = { testTimeout: 30_000, hookTimeout: 30_000, expect: { poll: { timeout: 15_000 } } }

export const longTests = [
  'test/cdk/thorough/*.test.ts',
  'test/console/*.test.ts',
  'test/console/thorough/**/*.test.ts',
  'test/contract/documentation/reference.test.ts',
  'test/contract/packaging/**/*.test.ts',
  'test/client/package.test.ts',
  'test/client/thorough/**/*.test.ts',
  'test/contract/*/thorough/*.test.ts',
  'test/contract/**/kill-*.test.ts',
  'test/power-cuts/*.test.ts',
]

/** The longest files come first, because at the end each would run alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const { long = [], others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      /\/(kill-|power-cuts\/|slow-bodies|settings-in-pairs)/.test(moduleId) ? 'long' : 'others',
    )
    return [...long, ...others]
  }
}

/** In milliseconds, for a case or a hook of the acceptance suite. Emulators on a small machine need more. */
const patience = Number(process.env['ACCEPTANCE_PATIENCE'] ?? 30_000)

const acceptance = {
  ...shared,
  include: ['test/acceptance/**/*.test.ts'],
  globalSetup: 'test/acceptance/setup/scratch.ts',
  testTimeout: patience,
  hookTimeout: patience,
  // Cases that wait for the same minute run at once.
  maxConcurrency: 10,
  expect: { poll: { timeout: patience / 2 } },
}

export default defineConfig({
  test: {
    fsModuleCache: true,
    // Each further process would import and compile the same modules again.
    maxWorkers: availableParallelism(),
    // Fewer garbage collections save a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    // In CI the cases of a file run in a shuffled order, which is the same in each run. `--sequence.seed` chooses
    // another order.
    sequence: { sequencer: LongestFirst, shuffle: { tests: process.env['EVERY_CALL'] === '1' }, seed: 20_261_125 },
    projects: [
      { test: { ...shared, ...patiently, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          ...patiently,
          name: 'contract',
          // Lists the files by name, because an `exclude` here would override `--exclude` on the command line.
          include: ['test/contract/{,!(packaging)/}!(new-kind|reference|kill-*).test.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...patiently,
          name: 'long',
          include: longTests,
          globalSetup: 'test/support/browser.ts',
          // One more file than the machine has cores, because these files wait for other processes.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { ...patiently, name: 'new-kind', include: ['test/contract/**/new-kind.test.ts'] } },
      { test: { ...shared, ...patiently, name: 'client', include: ['test/client/!(package).test.ts'] } },
      { test: { isolate: false, ...patiently, name: 'console', include: ['test/console/stores/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'cdk',
          include: ['test/cdk/*.test.ts'],
          testTimeout: 60_000,
          // The CDK checks each template with rules of CloudFormation, which would take most of the time of these
          // tests. `npm run test:long` checks the templates of many more settings. The other two variables leave out
          // stack traces and warnings about deprecated properties, which take a tenth of the time.
          env: { CDK_VALIDATION: 'false', CDK_DISABLE_STACK_TRACE: '1', JSII_DEPRECATED: 'quiet' },
        },
      },
      { test: { ...acceptance, name: 'acceptance' } },
      { test: { ...acceptance, name: 'acceptance-aws', env: { ACCEPTANCE_STORE: 'aws' } } },
    ],
    coverage: {
      provider: 'v8',
      include: ['functions', 'lib', 'local', 'admin'].map((folder) => `${folder}/**/*.ts`),
      reporter: ['text-summary', 'json-summary'],
    },
  },
})
