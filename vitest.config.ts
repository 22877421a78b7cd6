import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Test files share what they import, the SDK of AWS above all: reading it anew for each takes minutes in all. None of them changes what it imports,
 * but for one, which has a project of its own.
 */
const shared = { isolate: false }
/** What a test polls for comes when it comes: on a busy machine that may take a while. */
const patiently = { testTimeout: 30_000, hookTimeout: 30_000, expect: { poll: { timeout: 15_000 } } }

/** What takes long, which `npm run test:long` runs: pages in a browser, packages that are installed, services that are started again and again, or killed while they work. */
const long = [
  'test/console/*.test.ts',
  'test/console/thorough/**/*.test.ts',
  'test/contract/documentation/reference.test.ts',
  'test/contract/packaging/**/*.test.ts',
  'test/client/package.test.ts',
  'test/client/thorough/**/*.test.ts',
  'test/contract/*/thorough/*.test.ts',
  'test/contract/**/kill-*.test.ts',
]

/** How long a case or a hook of the black-box suite may take: emulators on a small machine need more time. In milliseconds. */
const patience = Number(process.env['ACCEPTANCE_PATIENCE'] ?? 30_000)

export default defineConfig({
  test: {
    // One file more than there are cores: much of a file's time is waiting.
    maxWorkers: availableParallelism() + 1,
    // What a test leaves behind is collected seldom: that takes a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    projects: [
      { test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          ...patiently,
          name: 'contract',
          // By their names: an `exclude` here would be in the way of one on the command line.
          include: ['test/contract/{,!(packaging)/}!(new-kind|reference|kill-*).test.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...patiently,
          name: 'long',
          include: long,
          globalSetup: 'test/support/browser.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { ...patiently, name: 'new-kind', include: ['test/contract/**/new-kind.test.ts'] } },
      { test: { ...shared, ...patiently, name: 'client', include: ['test/client/!(package).test.ts'] } },
      { test: { ...shared, ...patiently, name: 'console', include: ['test/console/stores/*.test.ts'] } },
      { test: { ...shared, name: 'cdk', include: ['test/cdk/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: {
          ...shared,
          name: 'acceptance',
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: 'test/acceptance/setup/target.ts',
          testTimeout: patience,
          hookTimeout: patience,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['functions', 'lib', 'local', 'admin'].map((folder) => `${folder}/**/*.ts`),
      reporter: ['text-summary', 'json-summary'],
    },
  },
})
