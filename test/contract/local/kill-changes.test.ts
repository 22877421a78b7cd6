import { expect } from 'vitest'
import { timesToTry } from '../../support/each-call.ts'
import { killAgainAndAgain } from '../../support/kill/kill-rounds.ts'
import { test } from '../../support/test.ts'

test('a service that is killed repeatedly loses no acknowledged change, and leaves none half done', {
  timeout: 300_000,
}, async ({ directory }) => {
  expect(await killAgainAndAgain(directory, timesToTry(100), 'on')).toBeUndefined()
})
