import { type Comparable, compare, memberNamed, toComparable } from './comparable.ts'
import type { Item, ItemShape, MemberReference } from './item-shape.ts'

export interface Position {
  readonly values: readonly Comparable[]
  readonly key: number
}

interface Term {
  readonly member: MemberReference
  readonly sign: 1 | -1
}

const readTerm = (text: string, shape: ItemShape): Term => ({
  member: memberNamed(shape, text.replace(/^-/, '').trim(), 'sorted by'),
  sign: text.startsWith('-') ? -1 : 1,
})

const orderBy = (terms: readonly Term[], key: string) => ({
  members: terms.map(({ member }) => member),
  text: terms.map(({ member, sign }) => (sign < 0 ? `-${member.name}` : member.name)).join(','),
  positionOf: (item: Item): Position => ({
    values: terms.map(({ member }) => toComparable(member.read(item), member.type)),
    key: Number(item[key]),
  }),
  compare(a: Position, b: Position): number {
    for (const [index, { sign }] of terms.entries()) {
      const difference = compare(a.values[index] ?? null, b.values[index] ?? null)
      if (difference !== 0) return difference * sign
    }
    return a.key - b.key
  },
})

type Order = ReturnType<typeof orderBy>

/** C-19 to C-22. Throws QueryFault. */
export const parseOrder = (text: string, shape: ItemShape): Order => {
  const names = text.split(',').map((part) => part.trim())
  const terms = new Map<string, Term>()
  for (const name of names.filter(Boolean)) {
    const term = readTerm(name, shape)
    if (!terms.has(term.member.name)) terms.set(term.member.name, term)
  }
  // No two items have the same key, so terms after the key have no effect. The ascending key is the default.
  const deciding = [...terms.values()]
  const key = deciding.findIndex(({ member }) => member.name === shape.key)
  if (key >= 0) deciding.length = deciding[key]?.sign === 1 ? key : key + 1
  return orderBy(deciding, shape.key)
}

export const keyOrder = ({ key }: ItemShape): Order => orderBy([], key)
