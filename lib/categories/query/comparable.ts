import type { MemberType, Scalar } from '../../core/item-shape.ts'
import { readDateTime } from './date-time.ts'

/** A value in the form in which it is compared: strings without case, dates as texts that sort as they do. */
export type Comparable = string | number | boolean | null

export const toComparable = (value: Scalar, type: MemberType): Comparable =>
  typeof value === 'string' && type !== 'date' ? value.toLowerCase() : value

/** The total order of the values of one member: null first, then ascending. */
export const compare = (a: Comparable, b: Comparable): number => {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  return a < b ? -1 : 1
}

const numeric = /^-?\d{1,15}(?:\.\d{1,15})?$/

const readNumber = (operand: unknown): number | undefined => {
  if (typeof operand === 'number') return Number.isFinite(operand) ? operand : undefined
  return typeof operand === 'string' && numeric.test(operand.trim()) ? Number(operand) : undefined
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [1, true],
  ['1', true],
  [false, false],
  ['false', false],
  [0, false],
  ['0', false],
])

const readers: Readonly<Record<MemberType, (operand: unknown) => Comparable | undefined>> = {
  integer: readNumber,
  flag: (operand) => (typeof operand === 'boolean' ? Number(operand) : readNumber(operand)),
  string: (operand) =>
    typeof operand === 'string' || typeof operand === 'number' ? String(operand).toLowerCase() : undefined,
  boolean: (operand) => booleans.get(operand),
  date: (operand) => (typeof operand === 'string' ? readDateTime(operand) : undefined),
  text: () => undefined,
}

/** What an operand of a condition on such a member must be, for people. */
export const operandNames: Readonly<Record<MemberType, string>> = {
  integer: 'a number',
  flag: '1 or 0',
  string: 'a string',
  boolean: 'true or false',
  date: 'a date such as "2026-01-31" or "2026-01-31T12:00:00"',
  text: 'nothing',
}

/** An operand in the form in which it is compared with values of the member; undefined when it cannot be. */
export const readOperand = (operand: unknown, type: MemberType): Comparable | undefined =>
  operand === null ? null : readers[type](operand)
