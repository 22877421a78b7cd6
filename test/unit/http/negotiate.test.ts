import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { namesType } from '../../../lib/http/negotiate.ts'
import { timesToTry } from '../../support/each-call.ts'

describe('Accept', () => {
  const names = (accept: string, type = 'text/html') => namesType({ headers: { accept } }, type)

  test('any value of Accept can be read without an error', () => {
    const piece = fc.constantFrom(...'text/html text/* , ; q = " \\ 0 . * / \t é \0'.split(' '), ' ')
    const accept = fc.oneof(
      fc.array(piece).map((pieces) => pieces.join('')),
      fc.string(),
    )
    fc.assert(
      fc.property(accept, (text) => {
        expect([true, false]).toContain(names(text))
      }),
      { numRuns: timesToTry(1_000) },
    )
  })

  test('Accept may name 200 types, and have 10 KB of any characters', () => {
    const many = Array.from({ length: 200 }, (_, index) => `application/type-${index};q=0.${index}`)
    expect(names(many.join(', '))).toBe(false)
    expect(names([...many, 'text/html'].join(', '))).toBe(true)
    expect(names('text/html;q=0,'.repeat(800))).toBe(false)
    for (const part of ['text/html;', 'text/*;q=', '"', ';;;', 'text/html;a="', '\\"'])
      expect([true, false]).toContain(names(`text/html${part.repeat(10_240 / part.length)}`))
  })
})
