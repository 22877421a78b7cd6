import fc from 'fast-check'
import { expect, it } from 'vitest'
import { asAttachment } from '../../../lib/storage/file-kind.ts'

/** The file name that a client reads: the exact form, if the header contains it. */
const nameIn = (header: string): string => {
  const [, exact] = /filename\*=UTF-8''([\w!#$&+\-.^`|~%]+)$/.exec(header) ?? []
  if (exact !== undefined) return decodeURIComponent(exact)
  return /filename="([^"\\]*)"/.exec(header)?.[1] ?? ''
}

it.each([
  ['report.pdf', 'attachment; filename="report.pdf"'],
  ['a"b\\c%d.txt', `attachment; filename="a_b_c_d.txt"; filename*=UTF-8''a%22b%5Cc%25d.txt`],
  [`it's (new)*é`, `attachment; filename="it's (new)*_"; filename*=UTF-8''it%27s%20%28new%29%2A%C3%A9`],
])('the file name %s is sent as %s', (name, header) => {
  expect(asAttachment(name)).toBe(header)
})

it('any file name is sent exactly, in an ASCII header without line breaks', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
      const header = asAttachment(name)
      expect(nameIn(header)).toBe(name)
      expect(header).toMatch(/^[\x20-\x7e]+$/)
    }),
  )
})
