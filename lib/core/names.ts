import { type ErrorName, ServiceError } from './errors.ts'

export const capitalised = <Text extends string>(text: Text) =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` as Capitalize<Text>

export const recordOf = <Name extends string, Value>(
  entries: readonly (readonly [Name, Value])[],
): Readonly<Record<Name, Value>> => Object.fromEntries(entries) as Record<Name, Value>

type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

export const definedMembers = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<Members>

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const howMany = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

export const plainId = /^[a-z][a-z0-9-]{0,31}$/

export const malformedPath = (error: ErrorName): ServiceError => {
  const reason = 'a percent sign lacks its hex digits, or the bytes are not UTF-8'
  return new ServiceError(error, { message: `The path is malformed: ${reason}. Correct its encoding.` })
}

/** Decodes percent signs exactly once. */
export const percentDecoded = (text: string, refuse: () => ServiceError): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refuse()
  }
}

const longestQuote = 40

export const quote = (text: string): string =>
  JSON.stringify(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text)

const mostQuoted = 3

export const unknownMembers = (names: readonly string[], known: readonly string[]): string => {
  const more = names.length > mostQuoted ? ` and ${names.length - mostQuoted} more` : ''
  const subject = `${names.slice(0, mostQuoted).map(quote).join(', ')}${more}`
  const verdict = names.length === 1 ? 'is not a known member' : 'are not known members'
  return `${subject} ${verdict}. Use only these members: ${known.join(', ')}`
}

export const byName = <Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) =>
  recordOf(names.map((name) => [name, make(name)]))

// The order of code points differs from the order of code units only for surrogates.
const rankOf = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** Compares in the order of code points, which is the order of keys in the stores. */
export const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const difference = a.charCodeAt(at) - b.charCodeAt(at)
    if (difference !== 0) return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
  }
  return a.length - b.length
}
