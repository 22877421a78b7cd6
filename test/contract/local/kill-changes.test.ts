import { expect } from 'vitest'
import { timesToTry } from '../../support/each-call.ts'
import { killAgainAndAgain } from '../../support/kill/kill-rounds.ts'
import { test } from '../../support/test.ts'

test('a repeatedly killed service keeps every acknowledged change whole (S-32)', {
  timeout: 300_000,
}, async ({ directory }) => {
  expect(await killAgainAndAgain(directory, timesToTry(70), 'on')).toBeUndefined()
})
