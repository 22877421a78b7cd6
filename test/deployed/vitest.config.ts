import { defineConfig } from 'vitest/config'

/**
 * Suites about what is deployed: `npm run test:deployed` runs them. Much of their time is waiting, so they do not wait
 * for a core each.
 */
export default defineConfig({
  test: { include: ['test/deployed/**/*.test.ts'], maxWorkers: 4, testTimeout: 120_000, hookTimeout: 120_000 },
})
