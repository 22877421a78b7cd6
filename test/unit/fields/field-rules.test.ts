import { describe, expect, test } from 'vitest'
import { importField, insertField } from '../../../lib/fields/field-rules.ts'
import { maxOrder, type SystemField } from '../../../lib/fields/web-forms.ts'

const form: readonly SystemField[] = [
  { typeId: -2, mandatory: true, order: 1 },
  { typeId: -3, name: 'Your address', mandatory: false, order: 3 },
]

describe('importing a field', () => {
  test('an imported field replaces the field of the same type, by default at the same position', () => {
    expect(importField(form, { typeId: -3, mandatory: true }, true)).toEqual([
      form[0],
      { typeId: -3, mandatory: true, order: 3 },
    ])
    expect(importField(form, { typeId: -3, name: 'Email', mandatory: true, order: 1 })).toEqual([
      { typeId: -3, name: 'Email', mandatory: true, order: 1 },
      { ...form[0], order: 2 },
    ])
  })

  test('an import that changes nothing returns the same fields', () => {
    for (const field of form) {
      expect(importField(form, field)).toBe(form)
      expect(importField(form, { typeId: field.typeId })).toBe(form)
    }
  })
})

const placed = (typeId: number, order: number): SystemField => ({ typeId, mandatory: false, order })

test('a field is refused if any field would need a position after the last possible one', () => {
  const last = [placed(-2, maxOrder - 1), placed(-3, maxOrder)]
  const refusal = expect.objectContaining({ code: 115000, message: expect.stringContaining('order') })
  expect(() => insertField(last, placed(-1, maxOrder))).toThrow(refusal)
  expect(() => insertField(last, placed(-1, maxOrder - 1))).toThrow(refusal)
  expect(() => insertField(last, { typeId: -1, mandatory: true })).toThrow(refusal)
  expect(insertField([], placed(-1, maxOrder))).toEqual([placed(-1, maxOrder)])
  expect(insertField(last, placed(-1, maxOrder - 2))).toHaveLength(3)
})
