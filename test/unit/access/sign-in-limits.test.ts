import { expect, test } from 'vitest'
import { type Attempts, countAttempt, limitsOf, networkOf, rememberSignIn } from '../../../lib/access/sign-in-limits.ts'
import { testPerson } from '../../support/people.ts'

const now = Date.UTC(2026, 0, 31, 12)
const limit = { key: 'key', most: 5 }

/** The waits after attempts at these moments, in milliseconds. The moments are in seconds after the first attempt. */
const waitsAt = (...moments: readonly number[]): readonly number[] => {
  let stored: Attempts | undefined
  return moments.map((moment) => {
    const { attempts, wait } = countAttempt(stored, limit, now + moment * 1000)
    stored = attempts
    return wait
  })
}

test('beyond a limit, each attempt waits twice as long, up to 15 minutes (A-78)', () => {
  const moments = [0, 0, 0, 0, 0]
  const waits: number[] = []
  for (let at = 0; waits.length < 12; ) {
    moments.push(at)
    const wait = waitsAt(...moments).at(-1) ?? 0
    waits.push(wait / 1000)
    at += wait / 1000
    // One more attempt is made after the wait.
    moments.push(at)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
})

test('an attempt during the wait does not extend the wait (A-78)', () => {
  expect(waitsAt(0, 0, 0, 0, 0, 0, 0.25, 0.5, 1, 1)).toEqual([0, 0, 0, 0, 0, 1000, 750, 500, 0, 2000])
})

test('a clock that is set back by a day does not extend the wait (A-78)', () => {
  const day = 24 * 3600
  expect(waitsAt(day, day, day, day, day, day, 0, 0)).toEqual([0, 0, 0, 0, 0, 1000, 0, 2000])
})

test('attempts are forgotten after 15 minutes (A-76)', () => {
  expect(waitsAt(0, 0, 0, 0, 0, 901, 901)).toEqual([0, 0, 0, 0, 0, 0, 0])
  expect(waitsAt(0, 0, 0, 0, 0, 0, 900.5, 900.5)).toEqual([0, 0, 0, 0, 0, 1000, 0, 2000])
})

test('15 minutes after a wait, attempts are free again (A-76)', () => {
  const six = (at: number) => [at, at, at, at, at, at]
  expect(waitsAt(...six(0), ...six(902))).toEqual([0, 0, 0, 0, 0, 1000, 0, 0, 0, 0, 0, 1000])
})

const mostOf = (...given: Parameters<typeof limitsOf>) => limitsOf(...given).map(({ most }) => most)
const keysOf = (name: string, address: string) => limitsOf(name, address, undefined, now).map(({ key }) => key)

test('a sign-in counts for its address, its name, and both together (A-76)', () => {
  expect(mostOf('ann', '192.0.2.1', undefined, now)).toEqual([50, 5, 25])
  expect(keysOf('ANN', '192.0.2.1')).toEqual(keysOf('ann', '192.0.2.1'))
  expect(new Set([...keysOf('ann', '192.0.2.1'), ...keysOf('bob', '192.0.2.2')]).size).toBe(6)
})

test('a sign-in from an unknown address counts only for the name (A-81)', () => {
  expect(mostOf('ann', undefined, undefined, now)).toEqual([25])
})

test('a sign-in from a known address of the person does not count for the name (A-77)', () => {
  const day = 24 * 3_600_000
  const person = rememberSignIn(testPerson(), '192.0.2.1', now)
  expect(mostOf('ann', '192.0.2.1', person, now + 30 * day)).toEqual([50, 5])
  expect(mostOf('ann', '192.0.2.1', person, now + 31 * day)).toEqual([50, 5, 25])
  const again = rememberSignIn(person, '192.0.2.1', now + day)
  expect(mostOf('ann', '192.0.2.1', again, now + 31 * day)).toEqual([50, 5])
  expect(mostOf('ann', '192.0.2.2', person, now)).toEqual([50, 5, 25])
  expect(person.lastSignIn).toBe('2026-01-31')
  expect(rememberSignIn(person, '192.0.2.1', now)).toBe(person)
  const many = Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`)
  const busy = many.reduce((one, address) => rememberSignIn(one, address, now), testPerson())
  expect(Object.keys(busy.addresses ?? {})).toHaveLength(20)
})

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['192.0.2.1', '192.0.2.1'],
])('the address %s counts as the network %s (A-76)', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
