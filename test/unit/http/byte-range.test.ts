import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRange } from '../../../lib/http/conditions.ts'

describe('a Range header', () => {
  it('requests existing bytes, the whole, or no existing byte, for any value', () => {
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

  it.each([
    [undefined, { kind: 'whole' }],
    ['bytes=0-0', { kind: 'part', first: 0, last: 0 }],
    ['bytes=-1', { kind: 'part', first: 9, last: 9 }],
    ['bytes=3-', { kind: 'part', first: 3, last: 9 }],
    ['bytes=10-', { kind: 'unsatisfiable' }],
    ['bytes=-0', { kind: 'unsatisfiable' }],
    ['bytes=-', { kind: 'whole' }],
    ['bytes=5-4', { kind: 'whole' }],
    ['bytes=0-1,3-4', { kind: 'whole' }],
  ])('%s of ten bytes', (text, range) => {
    expect(readRange(text, 10)).toEqual(range)
  })

  it('cannot match an empty file', () => {
    expect(readRange('bytes=0-', 0)).toEqual({ kind: 'unsatisfiable' })
    expect(readRange('bytes=-5', 0)).toEqual({ kind: 'unsatisfiable' })
  })
})
