import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addField, changeField, insertField } from '../../../lib/fields/field-rules.ts'
import { maxOrder, type SystemField } from '../../../lib/fields/web-forms.ts'
import { anyOrder, formFields } from '../../support/arbitrary-fields.ts'
import { timesToTry } from '../../support/each-call.ts'

type Fields = readonly SystemField[]

const runs = { numRuns: timesToTry(2_000) }

const placed = (typeId: number, order: number): SystemField => ({ typeId, mandatory: false, order })

/** Orders by type, computed step by step: a displaced field goes to the next position. */
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

const ordersByType = (fields: Fields) => new Map(fields.map(({ typeId, order }) => [typeId, order]))
const typesOf = (fields: Fields) => fields.map(({ typeId }) => typeId)

/** A type that no generated field has. */
const newType = -1

describe('placing a field', () => {
  test('agrees with the reference', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        const fields = insertField(others, placed(newType, order))
        expect(ordersByType(fields)).toEqual(reference(others, newType, order))
      }),
      runs,
    )
  })

  test('puts it at the requested position', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        expect(insertField(others, placed(newType, order))).toContainEqual(placed(newType, order))
      }),
      runs,
    )
  })

  test('keeps orders unique and the fields sorted', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        const orders = insertField(others, placed(newType, order)).map((field) => field.order)
        expect(orders).toEqual([...new Set(orders)].toSorted((a, b) => a - b))
      }),
      runs,
    )
  })

  test('keeps the relative order and all other members of the other fields', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        const kept = insertField(others, placed(newType, order)).filter(({ typeId }) => typeId !== newType)
        expect(kept.map((field) => ({ ...field, order: 0 }))).toEqual(others.map((field) => ({ ...field, order: 0 })))
      }),
      runs,
    )
  })

  test('moves only the fields without a gap from its position on, each by one', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        const taken = new Set(others.map((field) => field.order))
        let gap = order
        while (taken.has(gap)) gap += 1
        const after = ordersByType(insertField(others, placed(newType, order)))
        for (const other of others) {
          const moves = other.order >= order && other.order < gap
          expect(after.get(other.typeId)).toBe(moves ? other.order + 1 : other.order)
        }
      }),
      runs,
    )
  })

  test('without an order puts it after the last field', () => {
    fc.assert(
      fc.property(formFields, (others) => {
        const highest = Math.max(0, ...others.map(({ order }) => order))
        const fields = insertField(others, { typeId: newType, mandatory: true })
        expect(fields).toEqual([...others, { typeId: newType, mandatory: true, order: highest + 1 }])
      }),
      runs,
    )
  })

  test('does not change the given fields', () => {
    fc.assert(
      fc.property(formFields, anyOrder, (others, order) => {
        const before = structuredClone(others)
        insertField(others, placed(newType, order))
        expect(others).toEqual(before)
      }),
      runs,
    )
  })

  test('stops at the last position', () => {
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

  test('leaves its old position first', () => {
    fc.assert(
      fc.property(formFields, fc.nat(), anyOrder, (fields, pick, order) => {
        const field = fields[pick % Math.max(1, fields.length)]
        fc.pre(field !== undefined)
        const others = fields.filter((other) => other !== field)
        const moved = changeField(fields, field.typeId, { order }, anything)
        expect(ordersByType(moved)).toEqual(reference(others, field.typeId, order))
      }),
      runs,
    )
  })

  test('to its own position changes nothing', () => {
    fc.assert(
      fc.property(formFields, (fields) => {
        for (const { typeId, order } of fields) {
          expect(changeField(fields, typeId, { order }, anything)).toEqual(fields)
        }
      }),
      runs,
    )
  })

  test('swaps it with its neighbour when it moves by one', () => {
    const form = [placed(-2, 1), placed(-3, 2), placed(-4, 3)]
    expect(typesOf(changeField(form, -3, { order: 1 }, anything))).toEqual([-3, -2, -4])
    expect(changeField(form, -3, { order: 1 }, anything).map(({ order }) => order)).toEqual([1, 2, 3])
    expect(changeField(form, -2, { order: 3 }, anything).map(({ typeId, order }) => [typeId, order])).toEqual([
      [-3, 2],
      [-2, 3],
      [-4, 4],
    ])
  })
})

describe('adding a field', () => {
  test('places it like any other field', () => {
    const form = [placed(-2, 1), placed(-3, 2), placed(-4, 7)]
    expect(addField(form, { typeId: -5, mandatory: true, order: 1 })).toEqual([
      { typeId: -5, mandatory: true, order: 1 },
      placed(-2, 2),
      placed(-3, 3),
      placed(-4, 7),
    ])
  })
})
