import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkMatch, entityTag, noneMatchFails, tagOf } from '../../../lib/http/conditions.ts'
import { timesToTry } from '../../support/each-call.ts'

const tag = tagOf({ order: 1 })
const other = tagOf({ order: 2 })
const json = entityTag(tag, 'json')
const xml = entityTag(tag, 'xml')
const stale = entityTag(other, 'json')

describe('a tag', () => {
  test('two tags are equal only if the states are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(tagOf(a) === tagOf(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
      { numRuns: timesToTry(1_000) },
    )
  })

  test('a tag is strong, and differs between JSON and XML', () => {
    expect(json).toMatch(/^"[\w-]{22}\.json"$/)
    expect(xml).toMatch(/^"[\w-]{22}\.xml"$/)
  })
})

test('If-Match accepts the strong tag of either format', () => {
  for (const header of [' * ', xml, `W/${stale},W/${json},${xml}`]) checkMatch(header, tag)
  for (const header of ['', json.replaceAll('"', ''), `"${tag.slice(0, -1)}.json"`, `*, ${stale}`]) {
    expect(() => checkMatch(header, tag)).toThrow(expect.objectContaining({ code: 100412, status: 412 }))
  }
})

test('If-None-Match matches only the tag of the requested format', () => {
  expect([xml, ''].map((header) => noneMatchFails(header, json))).toEqual([false, false])
})
