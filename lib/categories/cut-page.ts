/** An answer stays under 5 MB (decisions.md, section 4): this is what its items may have in bytes, the wrapper left out. */
export const largestPage = 4_900_000

/** The first values whose JSON fits the budget together, and the bytes that they take. */
export const takeThatFit = <Value>(
  values: readonly Value[],
  toJson: (value: Value) => unknown,
  budget: number,
): { readonly taken: Value[]; readonly bytes: number } => {
  const taken: Value[] = []
  let bytes = 0
  for (const value of values) {
    const size = Buffer.byteLength(JSON.stringify(toJson(value))) + 1
    if (bytes + size > budget) break
    bytes += size
    taken.push(value)
  }
  return { taken, bytes }
}
