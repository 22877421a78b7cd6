import JSON5 from 'json5'
import { findMember, type Item, type ItemShape, type MemberReference } from '../../core/item-shape.ts'
import { type Comparable, compare, operandNames, readOperand, toComparable } from './comparable.ts'
import { QueryFault, quote } from './fault.ts'

/** Bounds of one condition (decisions.md, section 4). Together they bound the work per item as well. */
export const longestWhere = 4096
export const deepestWhere = 8
export const mostConditions = 100

export interface Where {
  /** The members that it compares. */
  readonly members: readonly MemberReference[]
  readonly matches: (item: Item) => boolean
}

/** Looks at the values of the members of one item, each in its slot. */
type Test = (values: readonly Comparable[]) => boolean
type ValueTest = (value: Comparable) => boolean

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const operandOf = (operand: unknown, member: MemberReference, operator: string): Comparable => {
  const comparable = readOperand(operand, member.type)
  if (comparable === undefined) {
    throw new QueryFault(
      `${operator} on ${member.name} takes ${operandNames[member.type]}, not ${quote(JSON.stringify(operand) ?? String(operand))}`,
    )
  }
  return comparable
}

const listOf = (operand: unknown, member: MemberReference, operator: string): ReadonlySet<Comparable> => {
  if (!Array.isArray(operand)) throw new QueryFault(`${operator} on ${member.name} takes an array`)
  return new Set(operand.map((entry) => operandOf(entry, member, operator)))
}

/** Any comparison with null but equality is false. */
const ordered =
  (holds: (comparison: number) => boolean) =>
  (operand: unknown, member: MemberReference, operator: string): ValueTest => {
    const bound = operandOf(operand, member, operator)
    return (value) => value !== null && bound !== null && holds(compare(value, bound))
  }

/** Looks into a value as the answer shows it, without case. */
const within =
  (holds: (text: string, part: string) => boolean) =>
  (operand: unknown, member: MemberReference, operator: string): ValueTest => {
    if (operand === null) return () => false
    if (typeof operand !== 'string' && typeof operand !== 'number') {
      throw new QueryFault(`${operator} on ${member.name} takes a string`)
    }
    const part = member.type === 'date' ? String(operand).toUpperCase() : String(operand).toLowerCase()
    return (value) => value !== null && holds(String(value), part)
  }

const equal = (operand: unknown, member: MemberReference, operator: string): ValueTest => {
  const wanted = operandOf(operand, member, operator)
  return (value) => value === wanted
}

const unequal = (operand: unknown, member: MemberReference, operator: string): ValueTest => {
  const unwanted = operandOf(operand, member, operator)
  return (value) => value !== unwanted
}

const operators: ReadonlyMap<string, (operand: unknown, member: MemberReference, operator: string) => ValueTest> =
  new Map([
    ['$eq', equal],
    ['$ne', unequal],
    ['$neq', unequal],
    ['$lt', ordered((comparison) => comparison < 0)],
    ['$lte', ordered((comparison) => comparison <= 0)],
    ['$gt', ordered((comparison) => comparison > 0)],
    ['$gte', ordered((comparison) => comparison >= 0)],
    [
      '$in',
      (operand, member, operator) => {
        const wanted = listOf(operand, member, operator)
        return (value) => wanted.has(value)
      },
    ],
    [
      '$nin',
      (operand, member, operator) => {
        const unwanted = listOf(operand, member, operator)
        return (value) => !unwanted.has(value)
      },
    ],
    ['$beginsWith', within((text, part) => text.startsWith(part))],
    ['$contains', within((text, part) => text.includes(part))],
  ])

const readTree = (text: string): unknown => {
  try {
    // Its parser keeps its own stack, so depth cannot overflow ours.
    return JSON5.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^JSON5: /, '') : 'it cannot be read'
    throw new QueryFault(`is not well-formed JSON: ${reason}`)
  }
}

const memberIn = (shape: ItemShape, name: string): MemberReference => {
  const member = findMember(shape, name)
  if (!member) throw new QueryFault(`there is no member ${quote(name)}`)
  if (member.type === 'text') throw new QueryFault(`${member.name} cannot be compared`)
  return member
}

/**
 * Reads the switch `where`: one JSON object, written as JSON5 because real clients send single quotes and unquoted keys
 * (decisions.md, section 4). Throws QueryFault. No part of it becomes a regular expression, and lists are looked up, not
 * walked, so the work per item is bounded by the number of conditions.
 */
export const parseWhere = (text: string, shape: ItemShape): Where => {
  if (text.length > longestWhere) {
    throw new QueryFault(`is ${text.length} characters long; at most ${longestWhere} are allowed`)
  }
  const slots = new Map<string, { readonly index: number; readonly member: MemberReference }>()
  let conditions = 0

  const slotOf = (member: MemberReference): number => {
    const existing = slots.get(member.name)
    if (existing) return existing.index
    slots.set(member.name, { index: slots.size, member })
    return slots.size - 1
  }

  const count = () => {
    conditions += 1
    if (conditions > mostConditions) throw new QueryFault(`has more than ${mostConditions} conditions`)
  }

  const condition = (member: MemberReference, operator: string, operand: unknown): Test => {
    count()
    const create = operators.get(operator)
    if (!create) throw new QueryFault(`${quote(operator)} on ${member.name} is not an operator`)
    const test = create(operand, member, operator)
    const slot = slotOf(member)
    return (values) => test(values[slot] ?? null)
  }

  const onMember = (name: string, expression: unknown): Test[] => {
    const member = memberIn(shape, name)
    if (Array.isArray(expression)) throw new QueryFault(`${member.name} is compared with an array: use $in`)
    if (!isTree(expression)) return [condition(member, '$eq', expression)]
    const entries = Object.entries(expression)
    if (entries.length === 0) throw new QueryFault(`${member.name} needs a value or an operator`)
    return entries.map(([operator, operand]) => condition(member, operator, operand))
  }

  const group = (operator: string, branches: unknown, depth: number): Test => {
    if (operator !== '$and' && operator !== '$or') throw new QueryFault(`${quote(operator)} is not an operator`)
    if (depth > deepestWhere) throw new QueryFault(`nests deeper than ${deepestWhere} levels`)
    if (!Array.isArray(branches) || branches.length === 0) throw new QueryFault(`${operator} takes an array of objects`)
    const tests = branches.map((branch) => all(branch, `an entry of ${operator}`, depth))
    return operator === '$and'
      ? (values) => tests.every((test) => test(values))
      : (values) => tests.some((test) => test(values))
  }

  const all = (tree: unknown, what: string, depth: number): Test => {
    if (!isTree(tree)) throw new QueryFault(`${what} must be an object`)
    const tests = Object.entries(tree).flatMap(([name, expression]) =>
      name.startsWith('$') ? [group(name, expression, depth + 1)] : onMember(name, expression),
    )
    return (values) => tests.every((test) => test(values))
  }

  const test = all(readTree(text), 'it', 0)
  const members = [...slots.values()].map(({ member }) => member)
  return {
    members,
    matches: (item) => test(members.map((member) => toComparable(member.read(item), member.type))),
  }
}
