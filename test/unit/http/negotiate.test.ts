import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Format, formatOf, namesType, preferredFormat } from '../../../lib/http/negotiate.ts'

const both: readonly [Format, Format] = ['json', 'xml']
const prefer = (accept: string | undefined, offered: readonly [Format, ...Format[]] = both) =>
  preferredFormat({ headers: accept === undefined ? {} : { accept } }, offered)

describe('the format of an answer', () => {
  test.each<[string | undefined, Format]>([
    [undefined, 'json'],
    ['', 'json'],
    [' ', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/json', 'json'],
    ['application/xml', 'xml'],
    ['text/xml', 'xml'],
    ['text/*', 'xml'],
    ['APPLICATION/XML', 'xml'],
    ['application/xml; charset=utf-8', 'xml'],
    ['application/xml;charset="UTF-8";q=0.9, application/json;charset=utf-8;q=0.1', 'xml'],
    ['application/json, application/xml', 'json'],
    ['application/xml, application/json', 'xml'],
    ['application/json;q=0.4, application/xml;q=0.9', 'xml'],
    ['application/json;q=0.9, application/xml;q=0.4', 'json'],
    ['application/json;q=0, */*', 'xml'],
    ['application/xml;q=0, */*', 'json'],
    ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', 'xml'],
    ['image/png, */*;q=0.1', 'json'],
  ])('for Accept: %s is %s', (accept, format) => {
    expect(prefer(accept)).toBe(format)
  })

  test.each(['text/html', 'application/json;q=0', 'image/*', 'application/json;q=0, application/xml;q=0', 'json'])(
    'does not exist for Accept: %j',
    (accept) => {
      expect(prefer(accept)).toBeUndefined()
    },
  )

  test('is the only one, for any Accept', () => {
    expect(prefer('application/xml', ['json'])).toBe('json')
    expect(prefer('text/html', ['json'])).toBe('json')
  })
})

describe('a media type', () => {
  test('is JSON, XML or neither', () => {
    expect(formatOf('application/json')).toBe('json')
    expect(formatOf('text/xml')).toBe('xml')
    expect(formatOf('text/plain')).toBeUndefined()
  })
})

describe('Accept', () => {
  const names = (accept: string, type = 'text/html') => namesType({ headers: { accept } }, type)

  test.each([
    'text/html',
    'TEXT/HTML',
    'text/*',
    'image/png, text/html;q=0.1',
    'text/html; charset=utf-8',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'text/*;q=0, text/html',
    'text/html;q=0.001',
    'a/b;c=",", text/html',
  ])('%s includes text/html', (accept) => {
    expect(names(accept)).toBe(true)
  })

  test.each([
    '',
    '*/*',
    '*/*;q=0.1, application/*',
    'text/plain',
    'text/html;q=0',
    'text/html;q=0, text/*',
    'text/*;q=0, */*',
    'text/html;q=0.000, */*',
    'text/html;level=1',
    'text/html;q=nonsense',
    'text/html;q=-1',
    'text',
    'html',
    'text/',
    'text/htm',
    'xtext/html',
    'text/html5',
    '*/html',
    'a/b;c="text/html"',
  ])('%s does not include text/html', (accept) => {
    expect(names(accept)).toBe(false)
  })

  test('is read without a failure, for any value', () => {
    const piece = fc.constantFrom(
      'text/html',
      'text/*',
      ',',
      ';',
      'q',
      '=',
      '"',
      '\\',
      ' ',
      '0',
      '.',
      '*',
      '/',
      '\t',
      'é',
      '\0',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece).map((pieces) => pieces.join('')),
          fc.string(),
        ),
        (accept) => {
          expect([true, false]).toContain(names(accept))
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('may name 200 types, and have 10 KB of any characters', () => {
    const many = Array.from({ length: 200 }, (_, index) => `application/type-${index};q=0.${index}`)
    expect(names(many.join(', '))).toBe(false)
    expect(names([...many, 'text/html'].join(', '))).toBe(true)
    expect(names('text/html;q=0,'.repeat(800))).toBe(false)
    for (const part of ['text/html;', 'text/*;q=', '"', ';;;', 'text/html;a="', '\\"'])
      expect([true, false]).toContain(names(`text/html${part.repeat(10_240 / part.length)}`))
  })
})
