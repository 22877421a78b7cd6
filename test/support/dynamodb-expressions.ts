import { isDeepStrictEqual } from 'node:util'

// The expressions of DynamoDB that the service uses. Each is parsed once.

export type Item = Readonly<Record<string, unknown>>

/** The meaning of `#name` and `:value` in an expression. */
export interface Terms {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Item
  readonly ProjectionExpression?: string
}

type Evaluate<Result> = (item: Item, terms: Terms) => Result

/** Compares numbers by size, and texts by their bytes. Returns NaN if the types differ or have no order. */
export const compareValues = (one: unknown, other: unknown): number => {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one !== 'string' || typeof other !== 'string') return Number.NaN
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

const comparisons: Readonly<Record<string, (one: unknown, other: unknown) => boolean>> = {
  '=': isDeepStrictEqual,
  '<>': (one, other) => !isDeepStrictEqual(one, other),
  '<': (one, other) => compareValues(one, other) < 0,
  '<=': (one, other) => compareValues(one, other) <= 0,
  '>': (one, other) => compareValues(one, other) > 0,
  '>=': (one, other) => compareValues(one, other) >= 0,
}

const sizeOf = (value: unknown): number | undefined => {
  if (value instanceof Set) return value.size
  if (Array.isArray(value) || typeof value === 'string' || value instanceof Uint8Array) return value.length
  return undefined
}

const functions: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (value, prefix) => typeof value === 'string' && value.startsWith(String(prefix)),
  contains: (value, part) => (value instanceof Set ? value.has(part) : Array.isArray(value) && value.includes(part)),
  size: sizeOf,
  if_not_exists: (value, otherwise) => value ?? otherwise,
  list_append: (one, other) => [...(one as readonly unknown[]), ...(other as readonly unknown[])],
}

const readerOf = (expression: string) => {
  const tokens = expression.match(/[#:]?\w+|<>|<=|>=|\S/g) ?? []
  let place = 0
  const peek = () => tokens[place] ?? ''
  const next = () => tokens[place++] ?? ''
  /** Consumes the token if it is the next one. */
  const skip = (token: string) => peek() === token && next() !== ''
  const expect = (token: string) => {
    if (!skip(token)) throw new Error(`"${expression}" has "${peek()}" in place of "${token}"`)
  }
  return { peek, next, skip, expect }
}
type Reader = ReturnType<typeof readerOf>

const listOf = <Part>(reader: Reader, read: () => Part): readonly Part[] => {
  const parts = [read()]
  while (reader.skip(',')) parts.push(read())
  return parts
}

const nameOf = (token: string, { ExpressionAttributeNames = {} }: Terms): string => {
  const name = ExpressionAttributeNames[token]
  if (name === undefined) throw new Error(`No name is given for ${token}`)
  return name
}

/** An attribute, a member of a list, a value, or the result of a function. */
const readOperand = (reader: Reader): Evaluate<unknown> => {
  const token = reader.next()
  if (token.startsWith(':')) return (_, { ExpressionAttributeValues = {} }) => ExpressionAttributeValues[token]
  const call = functions[token]
  if (call) {
    reader.expect('(')
    const given = listOf(reader, () => readOperand(reader))
    reader.expect(')')
    return (item, terms) => call(...given.map((one) => one(item, terms)))
  }
  if (!reader.skip('[')) return (item, terms) => item[nameOf(token, terms)]
  const index = Number(reader.next())
  reader.expect(']')
  return (item, terms) => (item[nameOf(token, terms)] as readonly unknown[] | undefined)?.[index]
}

const readComparison = (reader: Reader): Evaluate<boolean> => {
  if (reader.skip('NOT')) {
    const inner = readComparison(reader)
    return (item, terms) => !inner(item, terms)
  }
  if (reader.skip('(')) {
    const inner = readCondition(reader)
    reader.expect(')')
    return inner
  }
  const left = readOperand(reader)
  if (reader.skip('BETWEEN')) {
    const from = readOperand(reader)
    reader.expect('AND')
    const to = readOperand(reader)
    return (item, terms) => {
      const [value, first, last] = [left(item, terms), from(item, terms), to(item, terms)]
      if (compareValues(first, last) > 0) throw new Error('The upper bound of BETWEEN is less than the lower bound')
      return compareValues(value, first) >= 0 && compareValues(value, last) <= 0
    }
  }
  const compare = comparisons[reader.peek()]
  if (!compare) return (item, terms) => left(item, terms) === true
  reader.next()
  const right = readOperand(reader)
  return (item, terms) => compare(left(item, terms), right(item, terms))
}

const readCondition = (reader: Reader): Evaluate<boolean> => {
  const either = [[readComparison(reader)]]
  for (;;) {
    if (reader.skip('AND')) either.at(-1)?.push(readComparison(reader))
    else if (reader.skip('OR')) either.push([readComparison(reader)])
    else return (item, terms) => either.some((all) => all.every((one) => one(item, terms)))
  }
}

/** One changed attribute with its new value. Without a value, the attribute is removed. */
type Change = Evaluate<readonly [name: string, value: unknown]>

const readAssignment = (reader: Reader): Change => {
  const name = reader.next()
  reader.expect('=')
  const left = readOperand(reader)
  const sign = ['+', '-'].includes(reader.peek()) ? reader.next() : undefined
  const right = sign === undefined ? undefined : readOperand(reader)
  return (item, terms) => {
    const value = left(item, terms)
    if (!right) return [nameOf(name, terms), value]
    const more = Number(right(item, terms))
    return [nameOf(name, terms), Number(value) + (sign === '-' ? -more : more)]
  }
}

const changeOfSet = (reader: Reader, change: (before: unknown, given: unknown) => unknown): Change => {
  const name = reader.next()
  const given = readOperand(reader)
  return (item, terms) => [nameOf(name, terms), change(item[nameOf(name, terms)], given(item, terms))]
}

const added = (before: unknown, given: unknown) =>
  given instanceof Set ? new Set([...((before as Set<unknown>) ?? []), ...given]) : Number(before ?? 0) + Number(given)

const reduced = (before: unknown, given: unknown) => {
  const left = [...((before as Set<unknown>) ?? [])].filter((one) => !(given as Set<unknown>).has(one))
  return left.length > 0 ? new Set(left) : undefined
}

const clauses: Readonly<Record<string, (reader: Reader) => Change>> = {
  SET: readAssignment,
  REMOVE(reader) {
    const name = reader.next()
    return (_, terms) => [nameOf(name, terms), undefined]
  },
  ADD: (reader) => changeOfSet(reader, added),
  DELETE: (reader) => changeOfSet(reader, reduced),
}

const readUpdate = (reader: Reader): readonly Change[] => {
  const changes: Change[] = []
  while (reader.peek() !== '') {
    const clause = clauses[reader.next()]
    if (!clause) throw new Error('An update begins with SET, REMOVE, ADD or DELETE')
    changes.push(...listOf(reader, () => clause(reader)))
  }
  return changes
}

/** Parses each expression once. */
const remembered = <Result>(read: (reader: Reader) => Result) => {
  const parsed = new Map<string, Result>()
  return (expression: string): Result => {
    const known = parsed.get(expression) ?? read(readerOf(expression))
    parsed.set(expression, known)
    return known
  }
}
const conditionOf = remembered(readCondition)
const updateOf = remembered(readUpdate)

export const holds = (expression: string | undefined, item: Item, terms: Terms): boolean =>
  expression === undefined || conditionOf(expression)(item, terms)

/** All values are computed from the item before the update. */
export const updateItem = (expression: string | undefined, item: Item, terms: Terms) => {
  const changes = expression === undefined ? [] : updateOf(expression).map((change) => change(item, terms))
  const after = { ...item, ...Object.fromEntries(changes) }
  return { item: after, changed: changes.map(([name]) => name) }
}

export const project = (item: Item, { ProjectionExpression, ...terms }: Terms): Item => {
  if (ProjectionExpression === undefined) return item
  const names = ProjectionExpression.split(', ').map((token) => nameOf(token, terms))
  return Object.fromEntries(names.flatMap((name) => (name in item ? [[name, item[name]]] : [])))
}
