import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerFor } from '../../../functions/storage/file-answer.ts'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'

const modified = Date.UTC(2026, 0, 2, 3, 4, 5)
const file = (size: number) => ({
  key: 'live/1/a.txt',
  size,
  modified,
  version: 'v1',
  fingerprint: null,
  contentType: 'text/plain',
})
const downloads = { largestAnswer: 5, urlOf: async ({ key }: ObjectInfo) => `https://files.example.com/${key}` }

describe('Where an answer has room for five bytes, a request for a file', () => {
  it.each([
    ['of ten bytes is redirected (S-110)', {}, 'GET', 10, 'elsewhere'],
    ['of five bytes is answered', {}, 'GET', 5, 'whole'],
    ['for a range of six bytes is redirected', { range: 'bytes=0-5' }, 'GET', 10, 'elsewhere'],
    ['for a range of five bytes is answered', { range: 'bytes=0-4' }, 'GET', 10, 'part'],
    ['outside the file is refused', { range: 'bytes=10-' }, 'GET', 10, 'unsatisfiable'],
    [
      'that its caller has is unchanged, for any range',
      { 'if-none-match': '"v1"', range: 'bytes=99-' },
      'GET',
      10,
      'unchanged',
    ],
    ['with another state in If-Range ignores the range', { range: 'bytes=99-', 'if-range': '"v0"' }, 'GET', 5, 'whole'],
    ['by HEAD is answered', {}, 'HEAD', 10, 'whole'],
  ])('%s', (_, headers, method, size, kind) => {
    expect(answerFor(file(size), { method, headers }, downloads).kind).toBe(kind)
  })
})

it('An answer never has bytes that the file lacks', () => {
  const offset = fc.nat(120)
  const range = fc.tuple(offset, offset).map(([first, last]) => `bytes=${first}-${last}`)
  fc.assert(
    fc.property(fc.nat(100), range, (size, header) => {
      const answer = answerFor(file(size), { method: 'GET', headers: { range: header } }, undefined)
      if (!('bytes' in answer) || !answer.bytes) return
      expect(answer.bytes.first).toBeGreaterThanOrEqual(0)
      expect(answer.bytes.last).toBeLessThan(size === 0 ? 1 : size)
    }),
  )
})
