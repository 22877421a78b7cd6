export const capitalised = <Text extends string>(text: Text) =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` as Capitalize<Text>

export const recordOf = <Name extends string, Value>(
  entries: readonly (readonly [Name, Value])[],
): Readonly<Record<Name, Value>> => Object.fromEntries(entries) as Record<Name, Value>

export const byName = <Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) =>
  recordOf(names.map((name) => [name, make(name)]))
