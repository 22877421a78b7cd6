type Factors = Readonly<Record<string, readonly unknown[]>>
export type Choice<Of extends Factors> = { readonly [Name in keyof Of]: Of[Name][number] }

/** A small set of choices that combines every value of a factor with every value of every other factor. */
export const inPairs = <const Of extends Factors>(factors: Of): readonly Choice<Of>[] => {
  const names = Object.keys(factors)
  const values = (name: string | undefined) => factors[name ?? ''] ?? []
  const open = new Map<string, object>()
  for (const [index, first] of names.entries()) {
    for (const second of names.slice(index + 1)) {
      for (const one of values(first)) {
        for (const other of values(second)) {
          const pair = { [first]: one, [second]: other }
          open.set(JSON.stringify(pair), pair)
        }
      }
    }
  }
  const pairsOf = (choice: Record<string, unknown>): string[] =>
    names.flatMap((first, index) =>
      names
        .slice(index + 1)
        .filter((second) => first in choice && second in choice)
        .map((second) => JSON.stringify({ [first]: choice[first], [second]: choice[second] })),
    )
  const gain = (choice: Record<string, unknown>) => pairsOf(choice).filter((pair) => open.has(pair)).length
  const choices: Record<string, unknown>[] = []
  for (let [next] = open.values(); next; [next] = open.values()) {
    let choice: Record<string, unknown> = { ...next }
    for (const name of names.filter((candidate) => !(candidate in next))) {
      const tried = values(name).map((value) => ({ ...choice, [name]: value }))
      choice = tried.reduce((best, other) => (gain(other) > gain(best) ? other : best))
    }
    for (const pair of pairsOf(choice)) open.delete(pair)
    choices.push(Object.fromEntries(names.map((name) => [name, choice[name]])))
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
