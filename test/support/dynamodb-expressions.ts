import { isDeepStrictEqual } from 'node:util'
import conditions, { type Operand, type Section } from 'dynalite/db/conditionParser.js'
import updates from 'dynalite/db/updateParser.js'

export type Item = Readonly<Record<string, unknown>>

/** The meaning of `#name` and `:value` in an expression. */
export interface Terms {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Item
  readonly ProjectionExpression?: string
}

/** Compares numbers by size, and texts by their bytes. Returns NaN if the types differ or have no order. */
export const compareValues = (one: unknown, other: unknown): number => {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one !== 'string' || typeof other !== 'string') return Number.NaN
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

const sizeOf = (value: unknown): number | undefined => {
  if (value instanceof Set) return value.size
  if (Array.isArray(value) || typeof value === 'string' || value instanceof Uint8Array) return value.length
  return undefined
}

/** The operators and functions that the service uses. */
const operations: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
  '=': (one, other) => isDeepStrictEqual(one, other),
  '<>': (one, other) => !isDeepStrictEqual(one, other),
  '<': (one, other) => compareValues(one, other) < 0,
  '<=': (one, other) => compareValues(one, other) <= 0,
  '>': (one, other) => compareValues(one, other) > 0,
  '>=': (one, other) => compareValues(one, other) >= 0,
  between(value, first, last) {
    if (compareValues(first, last) > 0) throw new Error('The upper bound of BETWEEN is less than the lower bound')
    return compareValues(value, first) >= 0 && compareValues(value, last) <= 0
  },
  and: (one, other) => one && other,
  or: (one, other) => one || other,
  not: (one) => !one,
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (value, prefix) => typeof value === 'string' && value.startsWith(String(prefix)),
  contains: (value, part) => (value instanceof Set ? value.has(part) : Array.isArray(value) && value.includes(part)),
  size: sizeOf,
  if_not_exists: (value, otherwise) => value ?? otherwise,
  list_append: (one, other) => [...(one as readonly unknown[]), ...(other as readonly unknown[])],
  add: (one, other) => Number(one) + Number(other),
  subtract: (one, other) => Number(one) - Number(other),
}

const nameOf = (token: string | number, { ExpressionAttributeNames = {} }: Terms): string => {
  const name = ExpressionAttributeNames[token]
  if (name === undefined) throw new Error(`No name is given for ${token}`)
  return name
}

const evaluate = (operand: Operand, item: Item, terms: Terms): unknown => {
  if ('value' in operand) return terms.ExpressionAttributeValues?.[operand.value]
  if ('args' in operand) {
    const { args, type, name = type } = operand
    const operation = operations[name]
    if (!operation) throw new Error(`The tables in memory do not know ${name}`)
    return operation(...args.map((one) => evaluate(one, item, terms)))
  }
  const [name, index] = operand
  const attribute = item[nameOf(name, terms)]
  return index === undefined ? attribute : (attribute as readonly unknown[] | undefined)?.[index]
}

/** The new value of an attribute. Without a value, the attribute is removed. */
const changes: Readonly<Record<Section['type'], (before: unknown, given: unknown) => unknown>> = {
  set: (_, given) => given,
  remove: () => undefined,
  add: (before, given) =>
    given instanceof Set
      ? new Set([...((before as Set<unknown>) ?? []), ...given])
      : Number(before ?? 0) + Number(given),
  delete(before, given) {
    const left = [...((before as Set<unknown>) ?? [])].filter((one) => !(given as Set<unknown>).has(one))
    return left.length > 0 ? new Set(left) : undefined
  },
}

/** Leaves names and values as they are written, so that the result of the parser has no values of one request. */
const context = {
  attrNames: new Proxy({}, { get: (_, name) => name }),
  attrVals: new Proxy({}, { get: (_, value) => ({ value }) }),
  isReserved: () => false,
}

const remembered = ({ parse }: typeof conditions) => {
  const parsed = new Map<string, Exclude<ReturnType<typeof parse>, string>>()
  return (expression: string) => {
    const known = parsed.get(expression) ?? parse(expression, { context })
    if (typeof known === 'string') throw new Error(`${expression}: ${known}`)
    parsed.set(expression, known)
    return known
  }
}
const conditionOf = remembered(conditions)
const updateOf = remembered(updates)

export const holds = (expression: string | undefined, item: Item, terms: Terms): boolean =>
  expression === undefined || evaluate(conditionOf(expression).expression, item, terms) === true

/** All values are computed from the item before the update. */
export const updateItem = (expression: string | undefined, item: Item, terms: Terms) => {
  const sections = expression === undefined ? [] : updateOf(expression).sections
  const changed = sections.map(({ type, path, val }) => {
    const name = nameOf(path[0], terms)
    return [name, changes[type](item[name], val && evaluate(val, item, terms))] as const
  })
  return { item: { ...item, ...Object.fromEntries(changed) }, changed: changed.map(([name]) => name) }
}

export const project = (item: Item, { ProjectionExpression, ...terms }: Terms): Item => {
  if (ProjectionExpression === undefined) return item
  const names = ProjectionExpression.split(', ').map((token) => nameOf(token, terms))
  return Object.fromEntries(names.flatMap((name) => (name in item ? [[name, item[name]]] : [])))
}
