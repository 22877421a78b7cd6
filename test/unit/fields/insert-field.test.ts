import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeField, insertField } from '../../../lib/fields/field-rules.ts'
import { maxOrder, type SystemField } from '../../../lib/fields/web-forms.ts'
import { anyOrder, formFields } from '../../support/arbitrary-fields.ts'
import { timesToTry } from '../../support/each-call.ts'

type Fields = readonly SystemField[]

const runs = { numRuns: timesToTry(2_000) }

const placed = (typeId: number, order: number): SystemField => ({ typeId, mandatory: false, order })

/** The order of each field type, computed step by step: each displaced field moves to the next position. */
const reference = (others: Fields, typeId: number, position: number): Map<number, number> => {
  const holders = new Map(others.map((field) => [field.order, field.typeId]))
  let pushed: number | undefined = typeId
  for (let at = position; pushed !== undefined; at++) {
    const holder: number | undefined = holders.get(at)
    holders.set(at, pushed)
    pushed = holder
  }
  return new Map([...holders].map(([order, type]) => [type, order]))
}

/** All fields with the orders of the reference and all their other members. */
const expected = (others: Fields, field: SystemField, position: number): Fields => {
  const orders = reference(others, field.typeId, position)
  const fields = [...others, field].map((one) => ({ ...one, order: orders.get(one.typeId) ?? 0 }))
  return fields.toSorted((one, another) => one.order - another.order)
}

/** A type that no generated field has. */
const newType = -1

describe('placing a field', () => {
  test('a field gets the same position as in the simple reference implementation', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        const field = placed(newType, order)
        const before = structuredClone(others)
        expect(insertField(others, field)).toEqual(expected(others, field, order))
        expect(others).toEqual(before)
      }),
      runs,
    )
  })

  test('a field without an order is placed after the last field', () => {
    fc.assert(
      fc.property(formFields, (others) => {
        const highest = Math.max(0, ...others.map(({ order }) => order))
        const fields = insertField(others, { typeId: newType, mandatory: true })
        expect(fields).toEqual([...others, { typeId: newType, mandatory: true, order: highest + 1 }])
      }),
      runs,
    )
  })

  test('a field is refused if no position is free up to the last possible one', () => {
    const last = [placed(-2, maxOrder - 1), placed(-3, maxOrder)]
    const refusal = expect.objectContaining({ code: 115000, message: expect.stringContaining('order') })
    expect(() => insertField(last, placed(newType, maxOrder))).toThrow(refusal)
    expect(() => insertField(last, placed(newType, maxOrder - 1))).toThrow(refusal)
    expect(() => insertField(last, { typeId: newType, mandatory: true })).toThrow(refusal)
    expect(insertField([], placed(newType, maxOrder))).toEqual([placed(newType, maxOrder)])
    expect(insertField(last, placed(newType, maxOrder - 2))).toHaveLength(3)
  })
})

describe('moving a field', () => {
  const anything = () => undefined

  test('a field leaves its old position before it takes the new one', () => {
    fc.assert(
      fc.property(formFields, fc.nat(), anyOrder, (fields, pick, order) => {
        const field = fields[pick % Math.max(1, fields.length)]
        fc.pre(field !== undefined)
        const others = fields.filter((other) => other !== field)
        const moved = changeField(fields, field.typeId, { order }, anything)
        expect(moved).toEqual(expected(others, field, order))
      }),
      runs,
    )
  })
})
