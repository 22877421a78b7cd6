import { expect, test } from 'vitest'
import { storedId } from '../../lib/core/ids.ts'

const impossible = [undefined, null, 1.5, 1e21, Number.NaN, 'seven', '']
test.each(impossible)('the value %j in place of a stored id proves that the store is damaged', (value) => {
  expect(() => storedId(value)).toThrow(` ${String(value)} `)
  expect([7, '7', 7n].map(storedId)).toEqual([7, 7, 7])
})
