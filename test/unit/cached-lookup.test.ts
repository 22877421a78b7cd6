import { expect, test } from 'vitest'
import { cachedLookup } from '../../lib/core/cached-lookup.ts'

interface Found {
  readonly key: string
  readonly load: number
}

type Awaitable = Found | undefined | Promise<Found>

/** A lookup whose clock the test sets, and a list of its loads. */
const observed = ({ max = 100, answers = (key: string, load: number): Awaitable => ({ key, load }) } = {}) => {
  const clock = { now: 0 }
  const loads: string[] = []
  const find = cachedLookup<string, Found | undefined>(
    async (key) => {
      loads.push(key)
      return answers(key, loads.length)
    },
    { ttl: 20_000, max, now: () => clock.now },
  )
  return { find, loads, clock }
}

test('the age of an answer counts from the start of its lookup', async () => {
  const answer = Promise.withResolvers<Found>()
  const { find, loads, clock } = observed({ answers: () => answer.promise })
  const first = find('a')
  clock.now = 15_000
  answer.resolve({ key: 'a', load: 1 })
  await first
  clock.now = 20_000
  void find('a')
  expect(loads).toEqual(['a', 'a'])
})

test('simultaneous lookups of one key share one load', async () => {
  const { find, loads } = observed()
  const found = await Promise.all([find('a'), find('a'), find('b'), find('a')])
  expect(loads).toEqual(['a', 'b'])
  expect(found.map((value) => value?.load)).toEqual([1, 1, 2, 1])
})

test('a failed load is not cached', async () => {
  const { find } = observed({
    answers: (key, load) => {
      if (load === 1) throw new Error('away')
      return { key, load }
    },
  })
  await expect(find('a')).rejects.toThrow('away')
  expect(await find('a')).toEqual({ key: 'a', load: 2 })
})

test('a full cache drops its oldest answer', async () => {
  const { find, loads } = observed({ max: 2 })
  for (const key of ['a', 'b', 'c']) await find(key)
  await find('b')
  await find('c')
  expect(loads).toEqual(['a', 'b', 'c'])
  await find('a')
  expect(loads).toEqual(['a', 'b', 'c', 'a'])
})

test('a renewed answer counts as new, and is not dropped first', async () => {
  const { find, loads, clock } = observed({ max: 2 })
  await find('a')
  clock.now = 10_000
  await find('b')
  clock.now = 20_000
  await find('a')
  await find('c')
  await find('a')
  expect(loads).toEqual(['a', 'b', 'a', 'c'])
})

test('old answers can be dropped, even an answer that is still being loaded', async () => {
  const { find, loads } = observed()
  await Promise.all([find('a'), find('b')])
  const arriving = find('c')
  find.forget(({ key }) => key === 'a')
  await Promise.all([arriving, find('a'), find('b'), find('c')])
  expect(loads).toEqual(['a', 'b', 'c', 'a', 'c'])
})
