import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerFor } from '../../../functions/storage/file-answer.ts'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'

const modified = Date.UTC(2026, 0, 2, 3, 4, 5)
const file = (size = 10) => ({
  key: 'live/1/a.txt',
  size,
  modified,
  version: 'v1',
  fingerprint: null,
  contentType: 'text/plain',
})

const downloads = { largestAnswer: 5, urlOf: async ({ key }: ObjectInfo) => `https://files.example.com/${key}` }

const ask = (headers: Record<string, string>, method = 'GET', size = 10) =>
  answerFor(file(size), { method, headers }, undefined)
const askLambda = (headers: Record<string, string>, method = 'GET', size = 10) =>
  answerFor(file(size), { method, headers }, downloads)

const whole = { first: 0, last: 9 }

describe('a request for a file gets', () => {
  it('the whole file by default', () => {
    expect(ask({})).toEqual({ kind: 'whole', range: whole, bytes: whole })
  })

  it('the requested part', () => {
    const range = { first: 2, last: 4 }
    expect(ask({ range: 'bytes=2-4' })).toEqual({ kind: 'part', range, bytes: range })
  })

  it('the headers without bytes, for HEAD', () => {
    expect(ask({}, 'HEAD')).toEqual({ kind: 'whole', range: whole, bytes: undefined })
    expect(ask({ range: 'bytes=-1' }, 'HEAD')).toEqual({ kind: 'part', range: { first: 9, last: 9 }, bytes: undefined })
  })

  it('304 if it has this version, whatever else it asks for', () => {
    for (const given of ['"v1"', 'W/"v1"', '"v0", "v1"', '*']) {
      expect(ask({ 'if-none-match': given, range: 'bytes=99-' })).toEqual({ kind: 'unchanged' })
      expect(askLambda({ 'if-none-match': given })).toEqual({ kind: 'unchanged' })
    }
    expect(ask({ 'if-none-match': '"v0"' }).kind).toBe('whole')
  })

  it('416 for a range outside the file', () => {
    expect(ask({ range: 'bytes=10-' })).toEqual({ kind: 'unsatisfiable' })
    expect(askLambda({ range: 'bytes=10-' })).toEqual({ kind: 'unsatisfiable' })
  })

  it('a part only if the file is the one in If-Range', () => {
    const range = 'bytes=0-0'
    expect(ask({ range, 'if-range': '"v1"' }).kind).toBe('part')
    expect(ask({ range, 'if-range': new Date(modified).toUTCString() }).kind).toBe('part')
    expect(ask({ range, 'if-range': '"v0"' }).kind).toBe('whole')
    expect(ask({ range: 'bytes=99-', 'if-range': '"v0"' }).kind).toBe('whole')
  })
})

describe('if an answer has room for five bytes, a request for a file gets', () => {
  const elsewhere = { kind: 'elsewhere', downloads }

  it('a redirect for a larger file (S-110)', () => {
    expect(askLambda({})).toEqual(elsewhere)
    expect(askLambda({ range: 'bytes=0-5' })).toEqual(elsewhere)
    expect(askLambda({ range: 'bytes=0-4' }).kind).toBe('part')
    expect(askLambda({}, 'GET', 5).kind).toBe('whole')
  })

  it('the headers without a redirect, for HEAD', () => {
    expect(askLambda({}, 'HEAD')).toEqual({ kind: 'whole', range: whole, bytes: undefined })
  })
})

it('an answer never has bytes that the file does not have', () => {
  const offset = fc.nat(120)
  const range = fc.tuple(offset, offset).map(([first, last]) => `bytes=${first}-${last}`)
  fc.assert(
    fc.property(fc.nat(100), range, (size, header) => {
      const { bytes } = ask({ range: header }, 'GET', size)
      if (!bytes) return
      expect(bytes.first).toBeGreaterThanOrEqual(0)
      expect(bytes.last).toBeLessThan(size === 0 ? 1 : size)
    }),
  )
})
