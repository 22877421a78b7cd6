type Factors = Readonly<Record<string, readonly unknown[]>>
export type Choice<Of extends Factors> = { readonly [Name in keyof Of]: Of[Name][number] }

/** A small set of choices that combines every value of a factor with every value of every other factor. */
export const inPairs = <const Of extends Factors>(factors: Of): readonly Choice<Of>[] => {
  // Fewer choices suffice if the factors with most values come first.
  const sorted = Object.entries(factors).toSorted(([, one], [, other]) => other.length - one.length)
  const every = sorted.reduce<object[]>(
    (some, [name, values]) => some.flatMap((choice) => values.map((value) => ({ ...choice, [name]: value }))),
    [{}],
  )
  const pairsOf = (choice: object): string[] =>
    Object.entries(choice).flatMap((one, at, all) => all.slice(at + 1).map((other) => JSON.stringify([one, other])))
  const possible = every.map((choice) => ({ choice, pairs: pairsOf(choice) }))
  const open = new Set(possible.flatMap(({ pairs }) => pairs))
  const choices: object[] = []
  while (open.size > 0) {
    const gains = possible.map(({ pairs }) => pairs.filter((pair) => open.has(pair)).length)
    const { choice = {}, pairs = [] } = possible[gains.indexOf(Math.max(...gains))] ?? {}
    choices.push(choice)
    for (const pair of pairs) open.delete(pair)
  }
  return choices as Choice<Of>[]
}

/** The smallest set of choices that has every value of every factor. */
export const eachValue = <const Of extends Factors>(factors: Of): readonly Choice<Of>[] => {
  const most = Math.max(...Object.values(factors).map(({ length }) => length))
  return Array.from({ length: most }, (_, at) =>
    Object.fromEntries(Object.entries(factors).map(([name, values]) => [name, values[at % values.length]])),
  ) as Choice<Of>[]
}
