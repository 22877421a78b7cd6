import { expect } from 'vitest'
import { timesToTry } from '../../support/each-call.ts'
import { killAgainAndAgain } from '../../support/kill/kill-rounds.ts'
import { test } from '../../support/test.ts'

test('a repeatedly killed service loses no acknowledged change with FSYNC=off either', {
  timeout: 300_000,
}, async ({ directory }) => {
  expect(await killAgainAndAgain(directory, timesToTry(100), 'off')).toBeUndefined()
})
