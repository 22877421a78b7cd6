import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from '../../../lib/http/json.ts'
import { timesToTry } from '../../support/each-call.ts'
import { messages } from '../../support/messages.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

/** Generators fail with the refused member name, because they know it. */
const anyValue = fc.jsonValue({ maxDepth: 5 }).filter((value) => !JSON.stringify(value).includes('__proto__'))

describe('a request body in JSON', () => {
  test('is read unchanged', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(readJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: timesToTry(1_000) },
    )
  })

  test.each([
    ['has single quotes', "{'mandatory':true}"],
    ['is no number that JSON knows', 'NaN'],
    ['nests deep in a member', `{"a":{"b":${nested(32)}}}`],
    ['reaches for a prototype in disguise', '{"\\u005f\\u005fproto\\u005f\\u005f":{"mandatory":true}}'],
    ['reaches for a prototype by its constructor', '{"constructor":{"prototype":{"mandatory":true}}}'],
  ])('is refused when it %s', (_, text) => {
    expect(() => readJson(text)).toThrow(Error)
    expect({}).not.toHaveProperty('mandatory')
  })

  test.each(['{"__proto__":1}', '{"a":{"constructor":{"prototype":1}}}'])(
    'is refused with the name of the forbidden member in %s, not as invalid JSON',
    (text) => {
      expect(() => readJson(text)).toThrow(messages.http.prototype)
    },
  )

  test('may nest 32 levels deep', () => {
    expect(() => readJson(nested(32))).not.toThrow()
  })

  test('may have a member called constructor', () => {
    expect(readJson('{"constructor":"Ann"}')).toEqual({ constructor: 'Ann' })
  })
})
