import fc from 'fast-check'
import type { Item } from '../../../../lib/categories/query/item-shape.ts'
import { type Condition, known } from './reference.ts'

/** Few distinct values, so that conditions sometimes match and ties are common. */
const word = fc.constantFrom('', 'a', 'A', 'ab', 'Ab c', 'äÖ', 'ÄÖ', '7', 'null', '$in', "it's")
const day = fc.constantFrom('2025-12-31', '2026-01-01', '2026-01-02')
const time = fc.constantFrom('00:00:00', '12:30:00', '23:59:59')
const moment = fc.tuple(day, time).map(([date, clock]) => `${date}T${clock}`)
const small = fc.integer({ min: -2, max: 9 })

const news = fc.record({
  id: fc.integer({ min: 1, max: 30 }),
  subject: word,
  slug: word,
  weight: fc.option(small),
  releaseDate: moment,
  enabled: fc.boolean(),
  displayable: fc.boolean(),
})

/** Items of a category, with unique ids. */
export const items = fc
  .uniqueArray(fc.tuple(news, fc.constantFrom(0, 1)), { selector: ([{ id }]) => id, maxLength: 30 })
  .map((pairs): Item[] =>
    pairs
      .map(([object, displayable]) => ({
        objectId: object.id,
        categoryId: 5,
        objectType: 7,
        displayable,
        siteId: 1001,
        news: object,
      }))
      .sort((a, b) => a.objectId - b.objectId),
  )

const literals = {
  number: fc.oneof(small, small.map(String), fc.constant(null)),
  string: fc.oneof(word, small, fc.constant(null)),
  boolean: fc.constantFrom(true, false, 'true', 'false', 1, 0, null),
  date: fc.oneof(
    moment,
    day,
    moment.map((text) => `${text}Z`),
    fc.constant(null),
  ),
} as const

const fragment = fc.constantFrom('', 'a', 'B', '7', '2026', '2026-01-0', 'ö')

const onMember = fc.constantFrom(...Object.keys(known)).chain((name) => {
  const { kind = 'string' } = known[name] ?? {}
  const operand = literals[kind]
  const list = fc.array(operand, { maxLength: 4 })
  const operators: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    $eq: operand,
    $ne: operand,
    $neq: operand,
    $lt: operand,
    $lte: operand,
    $gt: operand,
    $gte: operand,
    $in: list,
    $nin: list,
    $beginsWith: fragment,
    $contains: fragment,
  }
  const expression = fc.oneof(
    operand,
    fc
      .uniqueArray(fc.constantFrom(...Object.keys(operators)), { minLength: 1, maxLength: 3 })
      .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, operators[name] ?? operand])))),
  )
  return expression.map((value): Condition => ({ [name]: value }))
})

/** Conditions of up to four levels. */
export const condition: fc.Arbitrary<Condition> = fc.letrec<{ tree: Condition }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    onMember,
    fc.tuple(onMember, onMember).map(([a, b]): Condition => ({ ...a, ...b })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((branches): Condition => ({ $and: branches })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((branches): Condition => ({ $or: branches })),
  ),
})).tree

export const order = fc.array(
  fc.tuple(fc.constantFrom(...Object.keys(known)), fc.boolean()).map(([name, down]) => (down ? `-${name}` : name)),
  { minLength: 1, maxLength: 4 },
)
