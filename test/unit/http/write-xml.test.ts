import { describe, expect, test } from 'vitest'
import { writeXml } from '../../../lib/http/write-xml.ts'

const head =
  '<?xml version="1.0" encoding="utf-8"?><field xmlns="http://ns.adobe.com/bc/api/v1" ' +
  'xmlns:i="http://www.w3.org/2001/XMLSchema-instance">'

const field = (value: object, item?: string) =>
  writeXml({ value, xml: { root: 'field', ...(item !== undefined && { item }) } })

describe('an answer in XML', () => {
  test('a list of errors has error elements, also inside items', () => {
    const errors = [{ path: 'order', message: 'must be 1 or more' }]
    expect(field({ errors })).toContain('<errors><error><path>order</path><message>must be 1 or more</message></error>')
    expect(field({ items: [{ errors }] }, 'field')).toContain('<field><errors><error>')
  })

  test('an empty list is an empty element, and a missing member has no element', () => {
    expect(field({ items: [], name: undefined })).toBe(`${head}<items></items></field>`)
  })

  test('a carriage return is escaped so that it can be read back', () => {
    expect(field({ name: 'a\r\nb' })).toContain('<name>a&#13;\nb</name>')
  })

  test('characters that XML forbids are replaced', () => {
    expect(field({ message: 'a\u0000b\u001Bc\uFFFEd\uD800e' })).toContain(
      '<message>a\uFFFDb\uFFFDc\uFFFDd\uFFFDe</message>',
    )
    expect(field({ message: 'tab\tline\nemoji 😀' })).toContain('<message>tab\tline\nemoji 😀</message>')
  })
})
