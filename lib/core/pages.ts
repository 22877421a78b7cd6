import { type ErrorName, ServiceError } from './errors.ts'

declare const written: unique symbol

export type Json<Value> = string & { readonly [written]: Value }

export const toJson = <Value>(value: Value): Json<Value> => JSON.stringify(value) as Json<Value>

/** C-10: in bytes, for the entries of a list. Lambda returns an answer as text inside JSON, of at most 6 MB. */
export const largestPage = 4_900_000

const sizeOf = (json: string): number => Buffer.byteLength(JSON.stringify(json)) + 1

/** Collects JSON within a budget of bytes. Measures exact sizes only when the upper bound exceeds the budget. */
export const collectThatFit = <Value>(budget: number) => {
  const taken: Json<Value>[] = []
  let most = 0
  let measured = 0
  let bytes = 0
  return {
    taken,
    add(json: Json<Value>): boolean {
      // A character takes at most three bytes, with its escapes.
      most += json.length * 3 + 3
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

/** The views of the values, from the first on, that fit into an answer. */
export const viewsThatFit = <Value, View>(values: readonly Value[], viewOf: (value: Value) => View): View[] => {
  const { add } = collectThatFit<View>(largestPage)
  const views: View[] = []
  for (const value of values) {
    const view = viewOf(value)
    if (!add(toJson(view))) break
    views.push(view)
  }
  return views
}

/** `by` names the list and its order. */
interface Position<By extends string> {
  readonly by: By
  readonly after: string
}

export const writeCursor = ({ by, after }: Position<string>): string =>
  Buffer.from(`${by}:${after}`).toString('base64url')

export const foreignCursor = (malformed: ErrorName): ServiceError =>
  new ServiceError(malformed, { message: 'This cursor belongs to another list. List again without it.' })

/** Accepts only the exact texts that `writeCursor` writes. */
export const readCursor = <By extends string>(
  cursor: string,
  kinds: readonly By[],
  malformed: ErrorName,
): Position<By> => {
  const [, kind, after = ''] = /^(\w+):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  const by = kinds.find((one) => one === kind)
  if (by !== undefined && writeCursor({ by, after }) === cursor) return { by, after }
  throw foreignCursor(malformed)
}
