/**
 * An answer stays under 5 MB (decisions.md, sections 4 and 5): this is what the entries of a list may have in bytes, the wrapper left out.
 * They are counted as a text within JSON, as a function hands its answer to the gateway, in 6 MB at most: each quote is longer there.
 */
export const largestPage = 4_900_000

const bytesOf = (json: string): number => Buffer.byteLength(JSON.stringify(json))

/** The first values whose JSON fits the budget together, and the bytes that they take. */
export const takeThatFit = <Value>(
  values: readonly Value[],
  toJson: (value: Value) => unknown,
  budget: number,
): { readonly taken: Value[]; readonly bytes: number } => {
  const taken: Value[] = []
  let bytes = 0
  for (const value of values) {
    // With the comma behind it.
    const size = bytesOf(JSON.stringify(toJson(value))) + 1
    if (bytes + size > budget) break
    bytes += size
    taken.push(value)
  }
  return { taken, bytes }
}
