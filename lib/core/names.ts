export const capitalised = <Text extends string>(text: Text) =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` as Capitalize<Text>

export const recordOf = <Name extends string, Value>(
  entries: readonly (readonly [Name, Value])[],
): Readonly<Record<Name, Value>> => Object.fromEntries(entries) as Record<Name, Value>

type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

export const definedMembers = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<Members>

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
