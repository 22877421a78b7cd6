import { describe, expect, test } from 'vitest'
import { isKey, newKey } from '../../../lib/access/keys.ts'

const shape = /^sak_[0-9A-Za-z]{49}$/

describe('a new key', () => {
  test('a key has a prefix, 43 letters and digits, and a checksum of 6 (A-90)', () => {
    const keys = Array.from({ length: 100 }, newKey)
    for (const key of keys) expect(key).toMatch(shape)
    expect(keys.filter(isKey)).toEqual(keys)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('the checksum detects a wrong character, and two swapped characters (A-90)', () => {
    const key = newKey()
    for (let at = 4; at < key.length; at++) {
      const other = key[at] === 'x' ? 'y' : 'x'
      expect(isKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
    }
    const at = [...key].findIndex((digit, index) => index > 3 && digit !== key[index + 1])
    expect(isKey(key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2))).toBe(false)
  })

  test.for(['', 'sak_', 'f'.repeat(64), 'SAK_', ' '])('the text "%s" is not a key', (text) =>
    expect(isKey(text)).toBe(false),
  )

  test('a text with another length or prefix is not a key (A-90)', () => {
    const key = newKey()
    for (const text of [`${key}0`, key.slice(0, -1), ` ${key}`, key.toUpperCase(), `pat_${key.slice(4)}`])
      expect(isKey(text)).toBe(false)
  })
})
