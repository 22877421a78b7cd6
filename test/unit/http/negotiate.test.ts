import { describe, expect, test } from 'vitest'
import { type Format, formatOf, preferredFormat } from '../../../lib/http/negotiate.ts'

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

  test('is the only one there is, whatever Accept says', () => {
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
