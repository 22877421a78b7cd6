import JSON5 from 'json5'
import { isPlainObject, quote } from '../../core/names.ts'
import {
  type Comparable,
  compare,
  type Item,
  type ItemShape,
  type MemberReference,
  memberNamed,
  operandOf,
  QueryFault,
  toComparable,
} from './item-shape.ts'

export const longestWhere = 4096
export const deepestWhere = 8
export const mostConditions = 100

export interface Where {
  readonly members: readonly MemberReference[]
  readonly matches: (item: Item) => boolean
}

// A condition reads the value of each of its members at a fixed index.
type Test = (values: readonly Comparable[]) => boolean
type ValueTest = (value: Comparable) => boolean
type Operator = (operand: unknown, member: MemberReference, operator: string) => ValueTest

const not =
  (create: Operator): Operator =>
  (...parts) => {
    const test = create(...parts)
    return (value) => !test(value)
  }

const equal: Operator = (...parts) => {
  const wanted = operandOf(...parts)
  return (value) => value === wanted
}

const oneOf: Operator = (operand, member, operator) => {
  if (!Array.isArray(operand)) throw new QueryFault(`${operator} on ${member.name} needs an array`)
  const wanted = new Set(operand.map((entry) => operandOf(entry, member, operator)))
  return (value) => wanted.has(value)
}

const ordered =
  (holds: (comparison: number) => boolean): Operator =>
  (...parts) => {
    const bound = operandOf(...parts)
    return (value) => value !== null && bound !== null && holds(compare(value, bound))
  }

const within =
  (holds: (text: string, part: string) => boolean): Operator =>
  (operand, member, operator) => {
    if (operand === null) return () => false
    if (typeof operand !== 'string' && typeof operand !== 'number') {
      throw new QueryFault(`${operator} on ${member.name} needs a string`)
    }
    const part = member.type === 'date' ? String(operand).toUpperCase() : String(operand).toLowerCase()
    return (value) => value !== null && holds(String(value), part)
  }

const operators: ReadonlyMap<string, Operator> = new Map([
  ['$eq', equal],
  ['$ne', not(equal)],
  ['$neq', not(equal)],
  ['$lt', ordered((comparison) => comparison < 0)],
  ['$lte', ordered((comparison) => comparison <= 0)],
  ['$gt', ordered((comparison) => comparison > 0)],
  ['$gte', ordered((comparison) => comparison >= 0)],
  ['$in', oneOf],
  ['$nin', not(oneOf)],
  ['$beginsWith', within((text, part) => text.startsWith(part))],
  ['$contains', within((text, part) => text.includes(part))],
])

const readTree = (text: string): unknown => {
  try {
    // The parser of JSON5 does not recurse, so deep nesting cannot overflow the call stack.
    return JSON5.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^JSON5: /, '') : 'it cannot be read'
    throw new QueryFault(`is not well-formed JSON: ${reason}`)
  }
}

/** C-28 to C-36. Throws QueryFault. No operand becomes a regular expression, so the work for each item is bounded. */
export const parseWhere = (text: string, shape: ItemShape): Where => {
  if (text.length > longestWhere) {
    throw new QueryFault(`has ${text.length} characters. At most ${longestWhere} are allowed`)
  }
  const members: MemberReference[] = []
  let conditions = 0

  const slotOf = (member: MemberReference): number => {
    const known = members.findIndex(({ name }) => name === member.name)
    return known < 0 ? members.push(member) - 1 : known
  }

  const condition = (member: MemberReference, operator: string, operand: unknown): Test => {
    conditions += 1
    if (conditions > mostConditions) throw new QueryFault(`has more than ${mostConditions} conditions. Leave some out`)
    const create = operators.get(operator)
    if (!create)
      throw new QueryFault(
        `${quote(operator)} on ${member.name} is not an operator. Operators: ${[...operators.keys()].join(', ')}`,
      )
    const test = create(operand, member, operator)
    const slot = slotOf(member)
    return (values) => test(values[slot] ?? null)
  }

  const onMember = (name: string, expression: unknown): Test[] => {
    const member = memberNamed(shape, name, 'compared')
    if (Array.isArray(expression)) throw new QueryFault(`${member.name} is compared with an array. Use $in`)
    if (!isPlainObject(expression)) return [condition(member, '$eq', expression)]
    const entries = Object.entries(expression)
    if (entries.length === 0) throw new QueryFault(`${member.name} needs a value or an operator`)
    return entries.map(([operator, operand]) => condition(member, operator, operand))
  }

  const group = (operator: string, branches: unknown, depth: number): Test => {
    if (operator !== '$and' && operator !== '$or')
      throw new QueryFault(`${quote(operator)} is not an operator here. Use $and or $or`)
    if (depth > deepestWhere)
      throw new QueryFault(`nests deeper than ${deepestWhere} levels. Write it with fewer levels`)
    if (!Array.isArray(branches) || branches.length === 0) throw new QueryFault(`${operator} needs an array of objects`)
    const tests = branches.map((branch) => all(branch, `an entry of ${operator}`, depth))
    return operator === '$and'
      ? (values) => tests.every((test) => test(values))
      : (values) => tests.some((test) => test(values))
  }

  const all = (tree: unknown, what: string, depth: number): Test => {
    if (!isPlainObject(tree)) throw new QueryFault(`${what} must be an object`)
    const tests = Object.entries(tree).flatMap(([name, expression]) =>
      name.startsWith('$') ? [group(name, expression, depth + 1)] : onMember(name, expression),
    )
    return (values) => tests.every((test) => test(values))
  }

  const test = all(readTree(text), 'it', 0)
  return { members, matches: (item) => test(members.map((member) => toComparable(member.read(item), member.type))) }
}
