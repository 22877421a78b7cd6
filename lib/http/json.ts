import * as secureJson from 'secure-json-parse'

export const deepestNesting = 32

const nestsTooDeep = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => nestsTooDeep(member, depth - 1)))

const quote = /, (?:\.{3})?".*is not valid JSON$/s

const parseWithoutQuote = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw error instanceof SyntaxError ? new SyntaxError(error.message.replace(quote, '')) : error
  }
}

// The library returns null for forbidden members, and undefined for a text that is not JSON. Some messages of the parser
// quote the text, which may contain a password.
const parse = (text: string): unknown => {
  const value: unknown = secureJson.safeParse(text)
  if (value === undefined) return parseWithoutQuote(text)
  if (value !== null || text.trim() === 'null') return value
  throw new Error('the members "__proto__" and "constructor.prototype" are not allowed')
}

/** Throws an Error with the reason. Refuses members that could change a prototype. */
export const readJson = (text: string): unknown => {
  const value = parse(text)
  if (nestsTooDeep(value, deepestNesting)) throw new Error(`it nests deeper than ${deepestNesting} levels`)
  return value
}
