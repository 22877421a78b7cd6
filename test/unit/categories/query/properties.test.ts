import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFields } from '../../../../lib/categories/query/fields.ts'
import { associationShape, type Item } from '../../../../lib/categories/query/item-shape.ts'
import { parseOrder } from '../../../../lib/categories/query/order.ts'
import { longestWhere, mostConditions, parseWhere } from '../../../../lib/categories/query/where.ts'
import { timesToTry } from '../../../support/each-call.ts'
import * as arbitrary from './arbitraries.ts'
import { passes } from './reference.ts'

const shape = associationShape('news')
const isWithinBounds = (text: string) => text.length <= longestWhere && text.split(':').length <= mostConditions

test('two different items never compare as equal, in either direction', () => {
  fc.assert(
    fc.property(arbitrary.items, arbitrary.order, (items, terms) => {
      const order = parseOrder(terms.join(','), shape)
      const positions = items.map(order.positionOf)
      for (const a of positions) {
        for (const b of positions) {
          const [there, back] = [Math.sign(order.compare(a, b)), Math.sign(order.compare(b, a))]
          expect(there).toBe(a === b ? 0 : back === 1 ? -1 : 1)
        }
      }
    }),
    { numRuns: timesToTry(200) },
  )
})

test('a condition in JSON5 matches the same items as in JSON', () => {
  const json5 = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map((entry) => `${json5(entry)},`).join(' ')}]`
    if (typeof value === 'object' && value !== null) {
      const members = Object.entries(value).map(
        ([name, member]) => `${/^[a-z$]+$/i.test(name) ? name : `'${name}'`}: ${json5(member)}`,
      )
      return `{${members.join(', ')}}`
    }
    return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)
  }
  fc.assert(
    fc.property(arbitrary.items, arbitrary.condition, (items, condition) => {
      const text = json5(condition)
      fc.pre(isWithinBounds(text))
      expect(items.filter(parseWhere(text, shape).matches)).toEqual(items.filter((item) => passes(item, condition)))
    }),
    { numRuns: timesToTry(200) },
  )
})

test('any text in the query parameter fields selects only members of the item', () => {
  const item: Item = { objectId: 12, siteId: 1001, news: { id: 12, body: '<p>' }, category: { id: 5, name: 'News' } }
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('news', '(', ')', ',', '.', 'objectId', 'body', 'x', ' ') }),
      (text) => {
        for (const [name, value] of Object.entries(parseFields(text, shape).select(item))) {
          expect(Object.keys(item)).toContain(name)
          if (typeof value === 'object') expect(item[name]).toMatchObject(value ?? {})
        }
      },
    ),
  )
})
