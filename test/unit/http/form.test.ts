import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readForm } from '../../../lib/http/form.ts'

test.each([
  ['items[5]=1', { items: ['1'] }],
  ['items=%5B1%2C2%5D', { items: '[1,2]' }],
  ['a=1+2&b', { a: '1 2', b: '' }],
])('the form %s is read', (text, expected) => {
  expect(readForm(text)).toEqual(expected)
})

test('a list of 500 entries in a form keeps its order', () => {
  const text = Array.from({ length: 500 }, (_, index) => `items[${index}][objectId]=${index}`).join('&')
  const { items } = readForm(text) as { items: { objectId: string }[] }
  expect(items.map(({ objectId }) => Number(objectId))).toEqual(Array.from({ length: 500 }, (_, index) => index))
})

test('a form with 2,000 names is read', () => {
  expect(readForm(Array.from({ length: 2_000 }, (_, index) => `a${index}=1`).join('&'))).toMatchObject({ a1999: '1' })
})

test.each([
  ['more names than the limit', 'a=1&'.repeat(2_001)],
  ['more entries than the limit', 'items[]=1&'.repeat(3_000)],
])('a form with %s is refused', (_, text) => {
  expect(() => readForm(text)).toThrow(Error)
})

test('an entry whose index is too large does not become a list', () => {
  expect(readForm('items[999999999]=1')).toEqual({ items: { 999999999: '1' } })
})

test('a form cannot change a prototype', () => {
  for (const text of ['__proto__[polluted]=1', 'a[__proto__][polluted]=1', 'constructor[prototype][polluted]=1']) {
    readForm(text)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  }
})

test('any text is either read as a form or refused', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '[', ']', '=', '&', '0', '9', '%5B', '%', '__proto__') }),
      (text) => {
        try {
          expect(typeof readForm(text)).toBe('object')
        } catch (error) {
          expect(error).toBeInstanceOf(Error)
        }
      },
    ),
  )
})
