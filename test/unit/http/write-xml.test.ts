import { describe, expect, test } from 'vitest'
import { writeXml } from '../../../lib/http/write-xml.ts'

const head =
  '<?xml version="1.0" encoding="utf-8"?><field xmlns="http://ns.adobe.com/bc/api/v1" ' +
  'xmlns:i="http://www.w3.org/2001/XMLSchema-instance">'

const field = (value: object, item?: string) =>
  writeXml({ value, xml: { root: 'field', ...(item !== undefined && { item }) } })

describe('an answer in XML', () => {
  test('has the names of JSON, in the namespace of the contract', () => {
    expect(field({ id: -2, type: { id: -2, name: 'CustomerDetails' }, mandatory: true })).toBe(
      `${head}<id>-2</id><type><id>-2</id><name>CustomerDetails</name></type><mandatory>true</mandatory></field>`,
    )
  })

  test('has link elements in links, and the element names of the contract in items', () => {
    expect(field({ links: [{ rel: 'self', uri: null }], items: [{ id: 1 }, { id: 2 }] }, 'field')).toBe(
      `${head}<links><link><rel>self</rel><uri i:nil="true"/></link></links><items><field><id>1</id></field><field><id>2</id></field></items></field>`,
    )
  })

  test('has error elements in errors, also inside items', () => {
    const errors = [{ path: 'order', message: 'must be 1 or more' }]
    expect(field({ errors })).toContain('<errors><error><path>order</path><message>must be 1 or more</message></error>')
    expect(field({ items: [{ errors }] }, 'field')).toContain('<field><errors><error>')
  })

  test('has an empty element for an empty list, and none for a missing member', () => {
    expect(field({ items: [], name: undefined })).toBe(`${head}<items></items></field>`)
  })

  test('escapes markup', () => {
    expect(field({ name: `<b>"R&D"</b> ]]>` })).toContain('<name>&lt;b&gt;"R&amp;D"&lt;/b&gt; ]]&gt;</name>')
  })

  test('writes a carriage return so that it can be read back', () => {
    expect(field({ name: 'a\r\nb' })).toContain('<name>a&#13;\nb</name>')
  })

  test('replaces characters that XML forbids', () => {
    expect(field({ message: 'a\u0000b\u001Bc\uFFFEd\uD800e' })).toContain(
      '<message>a\uFFFDb\uFFFDc\uFFFDd\uFFFDe</message>',
    )
    expect(field({ message: 'tab\tline\nemoji 😀' })).toContain('<message>tab\tline\nemoji 😀</message>')
  })
})
