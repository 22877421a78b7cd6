import { defineConfig } from 'vitest/config'

/**
 * Suites for a deployment, run by `npm run test:deployed`. They mostly wait, so the number of suites that run at once
 * is larger than the number of cores.
 */
export default defineConfig({
  test: { include: ['test/deployed/**/*.test.ts'], maxWorkers: 4, testTimeout: 240_000, hookTimeout: 240_000 },
})
