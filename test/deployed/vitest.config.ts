import { defineConfig } from 'vitest/config'

/** Suites about what is deployed: `npm run test:deployed` runs them, one file after the other. */
export default defineConfig({
  test: { include: ['test/deployed/**/*.test.ts'], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
})
