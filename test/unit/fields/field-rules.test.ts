import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { fieldTypeName, fieldTypes } from '../../../lib/fields/catalogue.ts'
import { addField, changeField, findField, importField, removeField } from '../../../lib/fields/field-rules.ts'
import type { SystemField } from '../../../lib/fields/web-forms.ts'

const form: readonly SystemField[] = [
  { typeId: -2, mandatory: true, order: 1 },
  { typeId: -3, name: 'Your address', mandatory: false, order: 3 },
]

const anything = () => undefined
const never = () => {
  throw new ServiceError('conditionFailed')
}
const refusal = (code: number) => expect.objectContaining({ code })

describe('the catalogue', () => {
  test('has the 33 types that can be added, without -400', () => {
    expect(fieldTypes.size).toBe(33)
    expect(fieldTypes.has(-400)).toBe(false)
  })

  test('names -400 too, and no other missing type', () => {
    expect(fieldTypeName(-400)).toBe('ImageVerification')
    expect(fieldTypeName(-404)).toBe('RecaptchaV2')
    expect(fieldTypeName(-1)).toBeUndefined()
  })
})

describe('finding a field', () => {
  test('uses the type', () => {
    expect(findField(form, -3)).toBe(form[1])
  })

  test('fails with 115002 for a missing field', () => {
    expect(() => findField(form, -4)).toThrow(refusal(115002))
  })
})

describe('adding a field', () => {
  test.each([...fieldTypes.keys()])('takes type %i', (typeId) => {
    expect(addField([], { typeId, mandatory: true })).toEqual([{ typeId, mandatory: true, order: 1 }])
  })

  test.each([-400, -1, 0, 2])('of type %i is 115000 and names type.id', (typeId) => {
    expect(() => addField(form, { typeId, mandatory: true })).toThrow(
      expect.objectContaining({ code: 115000, problems: [expect.objectContaining({ path: 'type.id' })] }),
    )
  })

  test('fails with 115006 for an existing type', () => {
    expect(() => addField(form, { typeId: -2, mandatory: false, order: 9 })).toThrow(refusal(115006))
  })
})

describe('changing a field', () => {
  test('sets the given members and keeps the others', () => {
    expect(changeField(form, -3, { mandatory: true }, anything)).toEqual([form[0], { ...form[1], mandatory: true }])
    expect(changeField(form, -3, { order: 9 }, anything)).toEqual([form[0], { ...form[1], order: 9 }])
    expect(changeField(form, -3, { mandatory: true, order: 9 }, anything)).toEqual([
      form[0],
      { ...form[1], mandatory: true, order: 9 },
    ])
  })

  test('fails with 115002 for a missing field, before any condition', () => {
    expect(() => changeField(form, -4, { mandatory: true }, never)).toThrow(refusal(115002))
  })

  test('checks the condition on the current field', () => {
    const seen: SystemField[] = []
    changeField(form, -3, { order: 1 }, (field) => seen.push(field))
    expect(seen).toEqual([form[1]])
    expect(() => changeField(form, -3, { order: 1 }, never)).toThrow(refusal(100412))
  })
})

describe('removing a field', () => {
  test('leaves a gap', () => {
    expect(removeField(form, -2, anything)).toEqual([form[1]])
  })

  test('fails with 115002 for a missing field, before any condition', () => {
    expect(() => removeField(form, -4, never)).toThrow(refusal(115002))
  })

  test('checks the condition first', () => {
    expect(() => removeField(form, -2, never)).toThrow(refusal(100412))
  })
})

describe('importing a field', () => {
  test('accepts -400, which cannot be added', () => {
    expect(importField(form, { typeId: -400, mandatory: true }).at(-1)).toEqual({
      typeId: -400,
      mandatory: true,
      order: 4,
    })
  })

  test('replaces the field of its type, at the same position by default', () => {
    expect(importField(form, { typeId: -3, mandatory: true }, true)).toEqual([
      form[0],
      { typeId: -3, mandatory: true, order: 3 },
    ])
    expect(importField(form, { typeId: -3, name: 'Email', mandatory: true, order: 1 })).toEqual([
      { typeId: -3, name: 'Email', mandatory: true, order: 1 },
      { ...form[0], order: 2 },
    ])
  })

  test('keeps members that the import omits', () => {
    const named = importField(form, { typeId: -7, name: 'Born', mandatory: true, order: 9 })
    expect(importField(named, { typeId: -7, mandatory: false }).at(-1)).toEqual({
      typeId: -7,
      name: 'Born',
      mandatory: false,
      order: 9,
    })
    expect(importField(named, { typeId: -7, order: 8 }).at(-1)).toMatchObject({
      name: 'Born',
      mandatory: true,
      order: 8,
    })
  })

  test('returns the same fields if nothing changes', () => {
    for (const field of form) {
      expect(importField(form, field)).toBe(form)
      expect(importField(form, { typeId: field.typeId })).toBe(form)
    }
  })

  test('is idempotent', () => {
    const record = { typeId: -7, name: 'Born', mandatory: true, order: 1 }
    const once = importField(form, record)
    expect(importField(once, record)).toEqual(once)
  })
})
