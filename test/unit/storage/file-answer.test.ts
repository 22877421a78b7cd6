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

describe('A response that can have at most five bytes', () => {
  it.each([
    ['for ten bytes is redirected (S-110)', {}, 'GET', 10, 'elsewhere'],
    ['for five bytes is answered', {}, 'GET', 5, 'whole'],
    ['for a range of six bytes is redirected', { range: 'bytes=0-5' }, 'GET', 10, 'elsewhere'],
    ['for a range of five bytes is answered', { range: 'bytes=0-4' }, 'GET', 10, 'part'],
    ['for a range outside the file is refused', { range: 'bytes=10-' }, 'GET', 10, 'unsatisfiable'],
    [
      'whose tag is current is answered with 304, for any range',
      { 'if-none-match': '"v1"', range: 'bytes=99-' },
      'GET',
      10,
      'unchanged',
    ],
    ['with another tag in If-Range gets the whole file', { range: 'bytes=99-', 'if-range': '"v0"' }, 'GET', 5, 'whole'],
    ['with HEAD is answered', {}, 'HEAD', 10, 'whole'],
  ])('A request %s', (_, headers, method, size, kind) => {
    expect(answerFor(file(size), { method, headers }, downloads).kind).toBe(kind)
  })
})
