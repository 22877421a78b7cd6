import { expect } from 'vitest'
import { killAgainAndAgain } from '../../support/kill/kill-rounds.ts'
import { test } from '../../support/test.ts'

test('a service that is killed 100 times loses no change that it has acknowledged, and leaves none half done, with FSYNC=on', {
  timeout: 300_000,
}, async ({ directory }) => {
  expect(await killAgainAndAgain(directory, 100, 'on')).toBeUndefined()
})
