import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRange } from '../../../lib/http/conditions.ts'

describe('a Range header', () => {
  it('a range selects existing bytes, the whole file or nothing, whatever its text is', () => {
    const header = fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(200), fc.nat(200)).map(([from, to]) => `bytes=${from}-${to}`),
      fc.nat(200).map((from) => `bytes=${from}-`),
      fc.nat(200).map((length) => `bytes=-${length}`),
    )
    fc.assert(
      fc.property(header, fc.nat(100), (text, size) => {
        const range = readRange(text, size)
        if (range.kind !== 'part') return
        expect(range.first).toBeGreaterThanOrEqual(0)
        expect(range.first).toBeLessThanOrEqual(range.last)
        expect(range.last).toBeLessThan(size)
      }),
    )
  })

  it('a range of an empty file selects nothing', () => {
    expect(readRange('bytes=0-', 0)).toEqual({ kind: 'unsatisfiable' })
    expect(readRange('bytes=-5', 0)).toEqual({ kind: 'unsatisfiable' })
  })
})
