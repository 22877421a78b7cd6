declare const written: unique symbol

/** The JSON text of a value. */
export type Json<Value> = string & { readonly [written]: Value }

export const toJson = <Value>(value: Value): Json<Value> => JSON.stringify(value) as Json<Value>

/**
 * An answer stays under 5 MB (decisions.md, sections 4 and 5): this is what the entries of a list may have in bytes, the wrapper left out.
 * They are counted as a text within JSON, as a function hands its answer to the gateway, in 6 MB at most: each quote is longer there.
 */
export const largestPage = 4_900_000

/** With the comma behind it. */
const sizeOf = (json: string): number => Buffer.byteLength(JSON.stringify(json)) + 1

/** A character has three bytes at most, also one that is escaped within JSON. */
const mostOf = (json: string): number => json.length * 3 + 3

/** Collects the JSON of values as long as it fits a budget in bytes. They are measured exactly only when they might be too many. */
export const collectThatFit = <Value>(budget: number) => {
  const taken: Json<Value>[] = []
  let most = 0
  let measured = 0
  let bytes = 0
  return {
    taken,
    /** Answers whether it has been taken. */
    add(json: Json<Value>): boolean {
      most += mostOf(json)
      if (most > budget) {
        for (const earlier of taken.slice(measured)) bytes += sizeOf(earlier)
        measured = taken.length
        const size = sizeOf(json)
        if (bytes + size > budget) return false
        bytes += size
        measured += 1
      }
      taken.push(json)
      return true
    },
  }
}

/** The first values whose JSON fits the budget together. */
export const takeThatFit = <Value, View>(values: readonly Value[], viewOf: (value: Value) => View, budget: number) => {
  const { taken, add } = collectThatFit<View>(budget)
  values.every((value) => add(toJson(viewOf(value))))
  return { taken }
}
