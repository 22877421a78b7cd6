import { expect, it } from 'vitest'
import { createTurns, inParallel } from '../../lib/core/in-parallel.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Work that the test ends, and a list of the started items. */
const heldWork = () => {
  const begun: number[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const work = (item: number): Promise<void> => {
    begun.push(item)
    const end = Promise.withResolvers<void>()
    ends.push(end)
    return end.promise
  }
  return { begun, ends, work }
}

/** Resolves when all work that does not wait for the test has run. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('when the work on one item ends, the next item is requested and starts', async () => {
  const asked: number[] = []
  async function* source() {
    for (const number of numbers(5)) {
      asked.push(number)
      yield number
    }
  }
  const { begun, ends, work } = heldWork()
  const all = inParallel(source(), 3, work)
  await settle()
  expect([asked, begun]).toEqual([numbers(3), numbers(3)])
  ends[1]?.resolve()
  await settle()
  expect([asked, begun]).toEqual([numbers(4), numbers(4)])
  for (const end of ends) end.resolve()
  await settle()
  ends[4]?.resolve()
  await all
  expect(begun).toEqual(numbers(5))
})

it('after a failure no further item starts, and the running ones end first', async () => {
  const { begun, ends, work } = heldWork()
  let outcome: unknown
  const all = inParallel(numbers(9), 2, work).catch((error: unknown) => {
    outcome = error
  })
  await settle()
  ends[0]?.reject(new Error('the first'))
  await settle()
  expect([begun, outcome]).toEqual([[0, 1], undefined])
  ends[1]?.reject(new Error('the second'))
  await all
  expect([begun, outcome]).toEqual([[0, 1], new Error('the first')])
})

it('after a failure, a late item is not started, and no other item is requested', async () => {
  const coming = Promise.withResolvers<void>()
  const asked: number[] = []
  async function* source() {
    for (const number of numbers(9)) {
      asked.push(number)
      if (number === 1) await coming.promise
      yield number
    }
  }
  const { begun, ends, work } = heldWork()
  const all = inParallel(source(), 2, work).catch(() => {})
  await settle()
  ends[0]?.reject(new Error('meanwhile'))
  await settle()
  coming.resolve()
  await all
  expect([begun, asked]).toEqual([[0], [0, 1]])
})

it('when the source of the items fails, running work still ends', async () => {
  async function* source() {
    yield 0
    throw new Error('no more')
  }
  const { begun, ends, work } = heldWork()
  let outcome: unknown
  const all = inParallel(source(), 4, work).catch((error: unknown) => {
    outcome = error
  })
  await settle()
  expect([begun, outcome]).toEqual([[0], undefined])
  ends[0]?.resolve()
  await all
  expect(outcome).toEqual(new Error('no more'))
})

it('after a failure, the source of the items is closed', async () => {
  let isOpen = true
  async function* source() {
    try {
      yield* numbers(9)
    } finally {
      isOpen = false
    }
  }
  await expect(inParallel(source(), 2, () => Promise.reject(new Error('at once')))).rejects.toThrow('at once')
  expect(isOpen).toBe(false)
})

it('an ended wait takes no turn', async () => {
  const { begun, ends, work } = heldWork()
  const takeTurn = createTurns({ atOnce: 1 })
  const request = new AbortController()
  const first = takeTurn(() => work(0))
  const second = takeTurn(() => work(1), request.signal)
  const third = takeTurn(() => work(2))
  request.abort()
  await expect(second).rejects.toMatchObject({ code: 100503 })
  ends[0]?.resolve()
  await first
  await expect(takeTurn(() => work(3), request.signal)).rejects.toMatchObject({ code: 100503 })
  ends[1]?.resolve()
  await third
  expect(begun).toEqual([0, 2])
})
