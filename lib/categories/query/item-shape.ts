import { type ContentKind, contentMembers, type ObjectKind } from '../../core/content-kinds.ts'
import { quote, unknownMembers } from '../../core/names.ts'
import type { Members, MemberType, Scalar, Scalars } from '../../core/object-kinds.ts'

export type Item = Readonly<Record<string, Scalar | Scalars>>

interface InnerObject {
  readonly name: string
  readonly members: Members
  /**
   * Standard objects are shown by default, and `where` and `order` know their members. Answers contain other objects
   * only when `fields` names them.
   */
  readonly standard: boolean
}

export interface ItemShape {
  // A unique integer, which decides the order of equal items (C-20).
  readonly key: string
  readonly own: Members
  readonly objects: readonly InnerObject[]
}

export const contentShape = (kind: ContentKind): ItemShape => ({ key: 'id', own: contentMembers[kind], objects: [] })

export const associationShape = (kind: ObjectKind): ItemShape => ({
  key: 'objectId',
  own: {
    objectId: { type: 'integer' },
    categoryId: { type: 'integer' },
    objectType: { type: 'integer' },
    displayable: { type: 'flag' },
    siteId: { type: 'integer' },
  },
  objects: [
    { name: kind, members: contentMembers[kind], standard: true },
    { name: 'category', members: contentMembers.category, standard: false },
  ],
})

export const siteUrlShape: ItemShape = {
  key: 'siteId',
  own: { siteId: { type: 'integer' }, url: { type: 'string' } },
  objects: [],
}

export interface MemberReference {
  readonly name: string
  readonly bareName: string
  readonly type: MemberType
  readonly object: string | undefined
  readonly read: (item: Item) => Scalar
}

const isScalar = (value: Scalar | object | undefined): value is Scalar | undefined => Object(value) !== value

const referencesTo = (members: Members, object?: string): readonly MemberReference[] =>
  Object.entries(members).map(([bareName, { type }]) => ({
    name: object === undefined ? bareName : `${object}.${bareName}`,
    bareName,
    type,
    object,
    read(item) {
      const owner: Item | Scalar | undefined = object === undefined ? item : item[object]
      const value = isScalar(owner) ? null : owner[bareName]
      return isScalar(value) ? (value ?? null) : null
    },
  }))

export const membersIn = ({ own, objects }: ItemShape): readonly MemberReference[] => {
  const standard = objects.filter((object) => object.standard)
  return [...referencesTo(own), ...standard.flatMap((object) => referencesTo(object.members, object.name))]
}

export class QueryFault extends Error {
  override readonly name = 'QueryFault'
}

/** C-31: one of the item's own members, a dotted name (`news.subject`), or a bare name of an inner object. */
export const memberNamed = (shape: ItemShape, name: string, use: string): MemberReference => {
  const known = membersIn(shape)
  const member = known.find((one) => one.name === name) ?? known.find(({ bareName }) => bareName === name)
  const comparable = known.filter(({ type }) => type !== 'text').map((one) => one.name)
  if (!member) throw new QueryFault(unknownMembers([name], comparable))
  if (member.type === 'text') throw new QueryFault(`${member.name} cannot be ${use}`)
  return member
}

/** A value to compare: strings in lower case, dates as sortable texts. */
export type Comparable = Scalar

export const toComparable = (value: Scalar, type: MemberType): Comparable =>
  typeof value === 'string' && type !== 'date' ? value.toLowerCase() : value

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

const datePattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

const offsetMinutes = (zone: string | undefined): number => {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return zone.startsWith('-') ? -minutes : minutes
}

/**
 * Reads `YYYY-MM-DD` or an ISO date-time, in UTC unless the text names a zone. Returns `YYYY-MM-DDTHH:MM:SS` in UTC,
 * with a fraction unless it is zero. These texts sort by time. Undefined for any other text.
 */
export const readDateTime = (text: string): string | undefined => {
  const match = datePattern.exec(text.trim())
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone] = match
  const written = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const local = Date.parse(`${written}Z`)
  // JavaScript turns 30 February into a day in March, so the date must be the same after the round trip.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== written) return undefined
  const moment = new Date(local - offsetMinutes(zone) * 60_000)
  if (moment.getUTCFullYear() < 0 || moment.getUTCFullYear() > 9999) return undefined
  const rest = fraction.replace(/0+$/, '')
  return moment.toISOString().slice(0, 19) + (rest && `.${rest}`)
}

const booleans: ReadonlyMap<string, boolean> = new Map(Object.entries({ true: true, 1: true, false: false, 0: false }))

const readers: Readonly<Record<MemberType, (operand: unknown) => Comparable | undefined>> = {
  integer: readNumber,
  flag: (operand) => (typeof operand === 'boolean' ? Number(operand) : readNumber(operand)),
  string: (operand) =>
    typeof operand === 'string' || typeof operand === 'number' ? String(operand).toLowerCase() : undefined,
  boolean: (operand) => (typeof operand === 'object' ? undefined : booleans.get(String(operand))),
  date: (operand) => (typeof operand === 'string' ? readDateTime(operand) : undefined),
  text: () => undefined,
}

const operandNames: Readonly<Record<MemberType, string>> = {
  integer: 'a number',
  flag: '1 or 0',
  string: 'a string',
  boolean: 'true or false',
  date: 'a date such as "2026-01-31" or "2026-01-31T12:00:00"',
  text: 'nothing',
}

export const operandOf = (operand: unknown, { name, type }: MemberReference, operator: string): Comparable => {
  const comparable = operand === null ? null : readers[type](operand)
  if (comparable !== undefined) return comparable
  const given = quote(typeof operand === 'object' ? JSON.stringify(operand) : String(operand))
  throw new QueryFault(`${operator} on ${name} needs ${operandNames[type]}, not ${given}`)
}

export interface Position {
  readonly values: readonly Comparable[]
  readonly key: number
}

interface Term {
  readonly member: MemberReference
  readonly sign: 1 | -1
}

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

/** C-19 to C-22. Without a name, the order of the keys. Throws QueryFault. */
export const parseOrder = (text: string, shape: ItemShape): Order => {
  const names = text.split(',').map((part) => part.trim())
  const terms = new Map<string, Term>()
  for (const name of names.filter(Boolean)) {
    const member = memberNamed(shape, name.replace(/^-/, '').trim(), 'sorted by')
    if (!terms.has(member.name)) terms.set(member.name, { member, sign: name.startsWith('-') ? -1 : 1 })
  }
  // No two items have the same key, so terms after the key have no effect. The ascending key is the default.
  const deciding = [...terms.values()]
  const key = deciding.findIndex(({ member }) => member.name === shape.key)
  if (key >= 0) deciding.length = deciding[key]?.sign === 1 ? key : key + 1
  return orderBy(deciding, shape.key)
}
