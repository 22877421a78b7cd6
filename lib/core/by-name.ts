/** A record of these names: what is made of all of them has all of them, which `Object.fromEntries` does not know. */
export const recordOf = <Name extends string, Value>(
  entries: readonly (readonly [Name, Value])[],
): Readonly<Record<Name, Value>> => Object.fromEntries(entries) as Record<Name, Value>

/** A record with one value for each name. */
export const byName = <Name extends string, Value>(names: readonly Name[], make: (name: Name) => Value) =>
  recordOf(names.map((name) => [name, make(name)]))
