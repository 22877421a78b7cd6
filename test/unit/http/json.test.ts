import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from '../../../lib/http/json.ts'
import { timesToTry } from '../../support/each-call.ts'
import { messages } from '../../support/messages.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

/** The generator produces the forbidden name `__proto__` on purpose, so values with that name are left out. */
const anyValue = fc.jsonValue({ maxDepth: 5 }).filter((value) => !JSON.stringify(value).includes('__proto__'))

describe('a request body in JSON', () => {
  test('the values of a body are read unchanged', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(readJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: timesToTry(1_000) },
    )
  })

  test.each([
    ['single quotes', "{'mandatory':true}"],
    ['a number that JSON does not have', 'NaN'],
    ['a prototype in a constructor', '{"constructor":{"prototype":{"mandatory":true}}}'],
  ])('a body with %s is refused', (_, text) => {
    expect(() => readJson(text)).toThrow(Error)
    expect({}).not.toHaveProperty('mandatory')
  })

  test.each(['{"__proto__":1}', '{"a":{"constructor":{"prototype":1}}}'])(
    'the refusal of %s names the forbidden member',
    (text) => {
      expect(() => readJson(text)).toThrow(messages.http.prototype)
    },
  )

  test('a body may have 32 levels', () => {
    expect(() => readJson(nested(32))).not.toThrow()
  })

  test('a body may have a member called constructor', () => {
    expect(readJson('{"constructor":"Ann"}')).toEqual({ constructor: 'Ann' })
  })
})
