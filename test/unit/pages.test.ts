import fc from 'fast-check'
import { expect, test } from 'vitest'
import { collectThatFit, toJson } from '../../lib/core/pages.ts'
import { timesToTry } from '../support/each-call.ts'

/** The bytes that a value and a comma add to an answer that is itself a JSON string. */
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(JSON.stringify(value))) + 1

const characters = fc.constantFrom('a', '"', '\\', '\n', 'ä', '€', '😀', '\ud800', '\u0000', '\u2028')

const firstThatFit = (values: readonly string[], budget: number): readonly string[] => {
  const fitting: string[] = []
  let left = budget
  for (const value of values) {
    left -= sizeOf(value)
    if (left < 0) break
    fitting.push(value)
  }
  return fitting
}

test('values are added to an answer as long as its JSON fits, including escaped quotes', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: characters, maxLength: 40 })), fc.nat({ max: 600 }), (values, budget) => {
      const { taken, add } = collectThatFit<string>(budget)
      values.every((value) => add(toJson(value)))
      expect(taken).toEqual(firstThatFit(values, budget).map((value) => JSON.stringify(value)))
    }),
    { numRuns: timesToTry(2_000) },
  )
})
