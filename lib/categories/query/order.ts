import { findMember, type Item, type ItemShape, type MemberReference } from '../../core/item-shape.ts'
import { type Comparable, compare, toComparable } from './comparable.ts'
import { QueryFault, quote } from './fault.ts'

/** Where an item stands in an ordered list: the values that it is sorted by, and its key. */
export interface Position {
  readonly values: readonly Comparable[]
  readonly key: number
}

export interface Order {
  /** The members that it sorts by; none means by key alone. */
  readonly members: readonly MemberReference[]
  /** Its canonical text: orders that sort alike have the same. */
  readonly text: string
  readonly positionOf: (item: Item) => Position
  readonly compare: (a: Position, b: Position) => number
}

interface Term {
  readonly member: MemberReference
  readonly sign: 1 | -1
}

const readTerm = (text: string, shape: ItemShape): Term => {
  const name = text.replace(/^-/, '').trim()
  const member = findMember(shape, name)
  if (!member) throw new QueryFault(`there is no member ${quote(name)}`)
  if (member.type === 'text') throw new QueryFault(`${member.name} cannot be sorted by`)
  return { member, sign: text.startsWith('-') ? -1 : 1 }
}

const orderBy = (terms: readonly Term[], key: string): Order => ({
  members: terms.map(({ member }) => member),
  text: terms.map(({ member, sign }) => (sign < 0 ? `-${member.name}` : member.name)).join(','),
  positionOf: (item) => ({
    values: terms.map(({ member }) => toComparable(member.read(item), member.type)),
    key: Number(item[key]),
  }),
  compare(a, b) {
    for (const [index, { sign }] of terms.entries()) {
      const difference = compare(a.values[index] ?? null, b.values[index] ?? null)
      if (difference !== 0) return difference * sign
    }
    return a.key - b.key
  },
})

/**
 * Reads the switch `order`: member names separated by commas, `-` in front for descending. Ties are resolved by the key
 * (decisions.md, section 4). Throws QueryFault.
 */
export const parseOrder = (text: string, shape: ItemShape): Order => {
  const names = text.split(',').map((part) => part.trim())
  const terms = new Map<string, Term>()
  for (const name of names.filter(Boolean)) {
    const term = readTerm(name, shape)
    // A member that is named again decides nothing any more.
    if (!terms.has(term.member.name)) terms.set(term.member.name, term)
  }
  // Neither does anything behind the key, which has no ties; and ascending, the key resolves them anyway.
  const deciding = [...terms.values()]
  const key = deciding.findIndex(({ member }) => member.name === shape.key)
  if (key >= 0) deciding.length = deciding[key]?.sign === 1 ? key : key + 1
  return orderBy(deciding, shape.key)
}

/** The order of a list without the switch: by key. */
export const keyOrder = ({ key }: ItemShape): Order => orderBy([], key)
