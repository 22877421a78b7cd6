import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 30_000 } },
      { test: { name: 'cdk', include: ['test/cdk/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: {
          name: 'acceptance',
          include: ['test/acceptance/**/*.test.ts'],
          globalSetup: 'test/acceptance/setup/target.ts',
          testTimeout: 30_000,
          hookTimeout: 30_000,
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
