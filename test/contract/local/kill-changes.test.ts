import { expect } from 'vitest'
import { timesToTry } from '../../support/each-call.ts'
import { killAgainAndAgain } from '../../support/kill/kill-rounds.ts'
import { test } from '../../support/test.ts'

test.for(['on', 'off'] as const)(
  'a service that is killed again and again loses no change that it has acknowledged, and leaves none half done, with FSYNC=%s',
  { timeout: 300_000 },
  async (fsync, { directory }) => {
    expect(await killAgainAndAgain(directory, timesToTry(100), fsync)).toBeUndefined()
  },
)
