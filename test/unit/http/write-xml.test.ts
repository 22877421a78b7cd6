import { expect, test } from 'vitest'
import { writeXml } from '../../../lib/http/write-xml.ts'

const field = (value: object) => writeXml({ value, xml: { root: 'field' } })

test('a carriage return is escaped so that it can be read back', () => {
  expect(field({ name: 'a\r\nb' })).toContain('<name>a&#13;\nb</name>')
})
