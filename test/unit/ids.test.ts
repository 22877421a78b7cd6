import { describe, expect, test } from 'vitest'
import { parseId } from '../../lib/ids.ts'

describe('an id in a path', () => {
  test.each([
    ['0', 0],
    ['7', 7],
    ['-304', -304],
    ['999999999999999', 999_999_999_999_999],
  ])('%s is read', (text, id) => {
    expect(parseId(text)).toBe(id)
  })

  test.each(['', ' 7', '7 ', '07', '-0', '+7', '7.0', '7e1', '0x7', '٧', 'current', '1000000000000000', '--1', '1\n'])(
    '%j names nothing',
    (text) => {
      expect(parseId(text)).toBeUndefined()
    },
  )
})
