import { describe, expect, test } from 'vitest'
import { parseId, storedId } from '../../lib/core/ids.ts'

describe('an id in a path', () => {
  test.each([
    ['0', 0],
    ['7', 7],
    ['-304', -304],
    ['999999999999999', 999_999_999_999_999],
  ])('the text %s is read as an id', (text, id) => {
    expect(parseId(text)).toBe(id)
  })

  const malformed = ['', ' 7', '7 ', '07', '-0', '+7', '7.0', '7e1', '0x7', '٧', '1000000000000000', '--1', '1\n']
  test('no other text is read as an id', () => {
    expect(malformed.map(parseId)).toEqual(malformed.map(() => undefined))
  })
})

describe('an id from a store', () => {
  test.each([
    [7, 7],
    ['7', 7],
    [7n, 7],
    [-304, -304],
  ])('the stored id %s is valid', (value, id) => {
    expect(storedId(value)).toBe(id)
  })

  test.each([undefined, null, 1.5, 1e21, Number.NaN, 'seven', ''])(
    'the stored id %j proves that the store is damaged',
    (value) => {
      expect(() => storedId(value)).toThrow(` ${String(value)} `)
    },
  )
})
