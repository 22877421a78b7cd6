import { defineConfig } from 'vitest/config'

/** Suites for a deployment. They mostly wait, so more of them run at once than the machine has cores. */
export default defineConfig({
  test: { include: ['test/deployed/**/*.test.ts'], maxWorkers: 4, testTimeout: 240_000, hookTimeout: 240_000 },
})
