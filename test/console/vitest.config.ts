import { defineConfig } from 'vitest/config'

/** What takes longer than `npm test` may: `npm run test:console` runs it. */
export default defineConfig({
  test: {
    include: ['test/console/thorough/**/*.test.ts'],
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
