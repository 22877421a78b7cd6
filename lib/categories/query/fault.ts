/** Says what is wrong with a switch of a query; the reader of all switches collects them. */
export class QueryFault extends Error {
  override readonly name = 'QueryFault'
}

const longestQuote = 40

/** A piece of a caller's text for a message: never longer than a person wants to read. */
export const quote = (text: string): string =>
  JSON.stringify(text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text)
