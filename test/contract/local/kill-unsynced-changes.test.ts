import { expect } from 'vitest'
import { timesToTry } from '../../support/each-call.ts'
import { killAgainAndAgain } from '../../support/kill/kill-rounds.ts'
import { test } from '../../support/test.ts'

test('even with FSYNC=off, a service that is killed repeatedly keeps its changes', {
  timeout: 300_000,
}, async ({ directory }) => {
  expect(await killAgainAndAgain(directory, timesToTry(70), 'off')).toBeUndefined()
})
