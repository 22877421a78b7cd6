import type { Item } from '../../../../lib/categories/query/item-shape.ts'
import type { Scalar, Scalars } from '../../../../lib/core/object-kinds.ts'

/** A naive implementation of the rules of `where` and `order`: one condition, one item, no preparation. */
type Kind = 'number' | 'string' | 'boolean' | 'date'

export interface Known {
  readonly kind: Kind
  readonly object?: string
  readonly member: string
}

/** The members of random conditions, under all their names. */
export const known: Readonly<Record<string, Known>> = {
  objectId: { kind: 'number', member: 'objectId' },
  displayable: { kind: 'number', member: 'displayable' },
  'news.displayable': { kind: 'boolean', object: 'news', member: 'displayable' },
  subject: { kind: 'string', object: 'news', member: 'subject' },
  'news.subject': { kind: 'string', object: 'news', member: 'subject' },
  slug: { kind: 'string', object: 'news', member: 'slug' },
  weight: { kind: 'number', object: 'news', member: 'weight' },
  'news.weight': { kind: 'number', object: 'news', member: 'weight' },
  releaseDate: { kind: 'date', object: 'news', member: 'releaseDate' },
  enabled: { kind: 'boolean', object: 'news', member: 'enabled' },
}

type Value = string | number | boolean | null

const valueIn = (item: Item, { kind, object, member }: Known): Value => {
  const raw = object === undefined ? item[member] : (item[object] as Scalars)[member]
  return literal((raw ?? null) as Scalar, kind)
}

const literal = (value: Scalar, kind: Kind): Value => {
  if (value === null) return null
  if (kind === 'number') return Number(value)
  if (kind === 'boolean') return value === true || value === 'true' || value === 1
  if (kind === 'string') return String(value).toLowerCase()
  const text = String(value)
  return Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text.endsWith('Z') ? text : `${text}Z`)
}

const shown = (item: Item, { kind, object, member }: Known): string => {
  const raw = object === undefined ? item[member] : (item[object] as Scalars)[member]
  return kind === 'date' ? String(raw) : String(raw).toLowerCase()
}

/** Operators that accept null. */
const equality: Readonly<Record<string, (value: Value, to: (operand: unknown) => Value, operand: unknown) => boolean>> =
  {
    $eq: (value, to, operand) => value === to(operand),
    $ne: (value, to, operand) => value !== to(operand),
    $neq: (value, to, operand) => value !== to(operand),
    $in: (value, to, operand) => (operand as unknown[]).some((other) => value === to(other)),
    $nin: (value, to, operand) => (operand as unknown[]).every((other) => value !== to(other)),
  }

const ordering: Readonly<Record<string, (value: number | string | boolean, other: Value) => boolean>> = {
  $lt: (value, other) => other !== null && value < other,
  $lte: (value, other) => other !== null && value <= other,
  $gt: (value, other) => other !== null && value > other,
  $gte: (value, other) => other !== null && value >= other,
}

const search: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  $beginsWith: (text, part) => text.startsWith(part),
  $contains: (text, part) => text.includes(part),
}

const holds = (item: Item, name: string, operator: string, operand: unknown): boolean => {
  const member = known[name]
  if (!member) throw new Error(name)
  const value = valueIn(item, member)
  const to = (other: unknown) => literal(other as Scalar, member.kind)
  const equal = equality[operator]
  if (equal) return equal(value, to, operand)
  if (value === null || operand === null) return false
  return (
    ordering[operator]?.(value, to(operand)) ??
    search[operator]?.(shown(item, member), String(operand).toLowerCase()) ??
    false
  )
}

export type Condition = { readonly [name: string]: unknown }

const memberPasses = (item: Item, name: string, expression: unknown): boolean => {
  if (typeof expression !== 'object' || expression === null) return holds(item, name, '$eq', expression)
  return Object.entries(expression).every(([operator, operand]) => holds(item, name, operator, operand))
}

/** True if the item matches the condition. */
export const passes = (item: Item, condition: Condition): boolean =>
  Object.entries(condition).every(([name, value]) => {
    if (name === '$and') return (value as Condition[]).every((branch) => passes(item, branch))
    if (name === '$or') return (value as Condition[]).some((branch) => passes(item, branch))
    return memberPasses(item, name, value)
  })

/** Sorts the items by each term in turn, the last term first. */
export const sorted = (items: readonly Item[], terms: readonly string[]): Item[] => {
  let result = [...items].sort((a, b) => Number(a['objectId']) - Number(b['objectId']))
  for (const term of [...terms].reverse()) {
    const descending = term.startsWith('-')
    const member = known[descending ? term.slice(1) : term]
    if (!member) throw new Error(term)
    const before = (a: Value, b: Value) => (a === null ? b !== null : b !== null && a < b)
    const stable = result.map((item, place) => ({ item, place, value: valueIn(item, member) }))
    stable.sort((a, b) => {
      if (before(a.value, b.value)) return descending ? 1 : -1
      if (before(b.value, a.value)) return descending ? -1 : 1
      return a.place - b.place
    })
    result = stable.map(({ item }) => item)
  }
  return result
}
