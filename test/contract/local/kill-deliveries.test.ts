import { expect } from 'vitest'
import { killDuringDeliveries } from '../../support/delivery-rounds.ts'
import { timesToTry } from '../../support/each-call.ts'
import { test } from '../../support/test.ts'

const { PROVE_COUNT = timesToTry(25), PROVE_SEED = '12' } = process.env
const kills = Number(PROVE_COUNT)

test('Killed services and bad targets lose no delivery, and send no false one (V-9)', {
  timeout: 120_000 + kills * 10_000,
}, async ({ directory }) => {
  const { reported, trapped, receivers } = await killDuringDeliveries(directory, kills, Number(PROVE_SEED))
  expect(reported.length).toBeGreaterThanOrEqual(kills)
  for (const { kind, first, early, requests } of receivers) {
    console.log(`${kind}: ${reported.length} entries in ${requests()} requests, ${kills} kills`)
    expect({ kind, early, ids: first.toSorted() }).toEqual({ kind, early: [], ids: reported })
    if (kind === 'steady') expect(first).toEqual(reported)
  }
  expect(trapped).toBe(0)
})
